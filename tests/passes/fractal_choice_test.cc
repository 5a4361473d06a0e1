#include "passes/fractal_choice.h"

#include "pass_testing.h"
#include "passes/fractal_layout.h"

namespace atc::passes {
namespace {

const soc::Chip& chip(std::string_view name) { return **soc::find_chip(name); }
constexpr const char* kNoNd2Nz = "Ascend310P3";
constexpr const char* kNd2Nz = "Ascend910B3";

/// What the pass makes of the graph for a chip (null: none is known); a second run must change nothing.
std::string layout_for(const soc::Chip* chip, std::string_view before) {
  const auto graph = graph_of(before);
  PassContext context;
  context.options.chip = chip;
  const auto first = fractal_layout_pass().run(*graph, context);
  EXPECT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ(ir::verify(*graph), "");
  const std::string after = ir::print(*graph);
  EXPECT_EQ(first.ok() && *first > 0, after != before);
  const auto second = fractal_layout_pass().run(*graph, context);
  EXPECT_TRUE(second.ok() && *second == 0) << "a second run makes changes\n" << after;
  EXPECT_EQ(ir::print(*graph), after);
  return after;
}

/// %id = a product without anything in its epilogue.
std::string product(const std::string& id, const std::string& operands, const std::string& dims,
                    const std::string& format = "", const std::string& dtype = "f16") {
  return "  %" + id + " = atc::MatMul(" + operands + ") {epilogue=graph \"epilogue\"(%0 \"acc\": f32[" +
         dims + "]) -> (%0) {\n  }} : " + dtype + "[" + dims + "]" + format + "\n";
}

/// %id = a product whose epilogue adds its third operand, of dims `added`.
std::string product_plus(const std::string& id, const std::string& operands, const std::string& added,
                         const std::string& dims) {
  return "  %" + id + " = atc::MatMul(" + operands + ") {epilogue=graph \"epilogue\"(%0 \"acc\": f32[" +
         dims + "], %1: f32[" + added + "]) -> (%2) {\n    %2 = Add@14(%0, %1) : f32[" + dims +
         "]\n  }} : f16[" + dims + "]\n";
}

/// %id = x less its largest element along an axis.
std::string centred(const std::string& id, const std::string& x, const std::string& dims,
                    const std::string& reduced, int axis, const std::string& attributes = "") {
  const std::string a = std::to_string(axis);
  return "  %" + id + " = atc::Fused(" + x + ") {body=graph \"body\"(%0: f32[" + dims +
         "]) -> (%2) {\n    %1 = ReduceMax@13(%0) {axes=[" + a + "]} : f32[" + reduced +
         "]\n    %2 = Sub@14(%0, %1) : f32[" + dims + "]\n  }" + attributes + ", reduce_axes=[" + a +
         "]} : f16[" + dims + "]\n";
}

TEST(FractalChoice, BetweenTwoProducts) {
  const std::string in = "%0 \"x\": f16[64,64], %1 \"v\": f16[64,64], %2 \"w\": f16[64,64]";
  const std::string dims = "64,64";
  EXPECT_EQ(
      layout_for(&chip(kNoNd2Nz), air(in, "%4", product("3", "%0, %1", dims) + product("4", "%3, %2", dims))),
      air(in, "%4", product("3", "%0, %1", dims, " FRACTAL_NZ") + product("4", "%3, %2", dims)));
}

TEST(FractalChoice, WithoutAChipNothingIsChosen) {
  const std::string in = "%0 \"x\": f16[64,64], %1 \"v\": f16[64,64], %2 \"w\": f16[64,64]";
  const std::string graph = air(in, "%4", product("3", "%0, %1", "64,64") + product("4", "%3, %2", "64,64"));
  EXPECT_EQ(layout_for(nullptr, graph), graph);
}

struct Choice {
  const char* name;
  const char* soc;
  std::string inputs, outputs, body;
  int fractals;
};

class FractalChoices : public testing::TestWithParam<Choice> {};
TEST_P(FractalChoices, Count) {
  const Choice& c = GetParam();
  const auto graph = graph_of(layout_for(&chip(c.soc), air(c.inputs, c.outputs, c.body)));
  int fractals = 0;
  for (const ir::Value* v : graph->values()) {
    if (v->type.format != ir::Format::FRACTAL_NZ) continue;
    ++fractals;
    EXPECT_FALSE(v->is_input() || graph->is_output(v)) << v->name();
  }
  for (const auto& n : graph->nodes()) EXPECT_FALSE(n->is_internal("TransData")) << n->label();
  EXPECT_EQ(fractals, c.fractals) << ir::print(*graph);
}

const std::string kIn = "%0 \"x\": f16[64,64], %1 \"v\": f16[64,64], %2 \"w\": f16[64,64]";
const std::string kFirst = product("3", "%0, %1", "64,64");
const std::string kWide = "%0 \"x\": f16[64,64], %1 \"v\": f16[64,512], %2 \"w\": f16[512,64]";
const std::string kFirstWide = product("3", "%0, %1", "64,512");
const std::string kBatches = "%0 \"x\": f16[49,17,64], %1 \"v\": f16[64,64], %2 \"w\": f16[64,64]";

std::string attention(const std::string& id, const std::string& qkv, int heads, int d, int k_column) {
  const std::string n = std::to_string(3 * heads * d), o = std::to_string(heads * d), w = std::to_string(d);
  const auto view = [&](const std::string& offset) { return offset + ",0," + w + "," + n; };
  return "  %" + id + " = atc::Attention(" + qkv + ", _, " + qkv + ", " + qkv +
         ") {scale=0.5, segments=[64], shape=[64," + o + "], sizes=[1," + std::to_string(heads) + "," +
         std::to_string(heads) + ",64," + w + "," + w + "], views=[" + view("0") + ",0,0," + w + "," + o +
         "," + view(std::to_string(k_column)) + "," + view(std::to_string(2 * heads * d)) + "]} : f16[64," +
         o + "]\n";
}

/// %4 = rows of the table `table` that %2 names, and %`added` beside them.
std::string gathered_plus(const std::string& table, const std::string& added) {
  return "  %4 = atc::Fused(%" + table + ", %" + added +
         ", %2) {body=graph \"body\"(%0: f32[64,64], %1: f32[64,64]) -> (%2) {\n    %2 = Add@14(%0, %1) : "
         "f32[64,64]\n  }, gathers=[0,2]} : f16[64,64]\n";
}
const std::string kNamed =
    "%0 \"x\": f16[64,64], %1 \"v\": f16[64,64], %2 \"i\": i64[64], %6 \"t\": f16[64,64]";

/// `text` with `to` in place of `from`.
std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, FractalChoices,
    testing::Values(
        Choice{"between", kNoNd2Nz, kIn, "%4", kFirst + product("4", "%3, %2", "64,64"), 1},
        // One stretch either way.
        Choice{"small_whole_matrices_cost_the_same", kNd2Nz, kIn, "%4",
               kFirst + product("4", "%3, %2", "64,64"), 0},
        Choice{"rows_are_stretches_where_the_chip_turns_them", kNd2Nz,
               "%0 \"x\": f16[512,64], %1 \"v\": f16[64,4096], %2 \"w\": f16[4096,64]", "%4",
               product("3", "%0, %1", "512,4096") + product("4", "%3, %2", "512,64"), 0},
        Choice{"second_operand", kNoNd2Nz, kIn, "%4", kFirst + product("4", "%2, %3", "64,64"), 1},
        Choice{"both_operands_and_added", kNoNd2Nz, kIn, "%4",
               kFirst + product_plus("4", "%3, %3, %3", "64,64", "64,64"), 1},
        Choice{"added_to_every_row", kNoNd2Nz,
               "%0 \"x\": f16[1,64], %1 \"v\": f16[64,64], %2 \"w\": f16[64,64]", "%4",
               product("3", "%0, %1", "1,64") + product_plus("4", "%1, %2, %3", "1,64", "64,64"), 0},
        Choice{"output_of_the_model", kNoNd2Nz, kIn, "%3, %4", kFirst + product("4", "%3, %2", "64,64"), 0},
        Choice{
            "another_reader", kNoNd2Nz, kIn, "%4, %5",
            kFirst + product("4", "%3, %2", "64,64") + "  %5 = Transpose@13(%3) {perm=[1,0]} : f16[64,64]\n",
            0},
        Choice{"columns_are_no_blocks", kNoNd2Nz,
               "%0 \"x\": f16[64,64], %1 \"v\": f16[64,40], %2 \"w\": f16[40,64]", "%4",
               product("3", "%0, %1", "64,40") + product("4", "%3, %2", "64,64"), 0},
        Choice{"rows_that_padding_makes_more_by_a_third", kNoNd2Nz,
               "%0 \"x\": f16[48,64], %1 \"v\": f16[64,64], %2 \"w\": f16[64,64]", "%4, %7",
               product("3", "%0, %1", "36,64") + product("4", "%3, %2", "36,64") +
                   product("6", "%0, %1", "120,64") + product("7", "%6, %2", "120,64"),
               1},
        Choice{"one_block", kNoNd2Nz, "%0 \"x\": f16[64,64], %1 \"v\": f16[64,16], %2 \"w\": f16[16,64]",
               "%4", product("3", "%0, %1", "64,16") + product("4", "%3, %2", "64,64"), 0},
        Choice{"f32", kNoNd2Nz, "%0 \"x\": f32[64,64], %1 \"v\": f32[64,64], %2 \"w\": f32[64,64]", "%4",
               product("3", "%0, %1", "64,64", "", "f32") + product("4", "%3, %2", "64,64", "", "f32"), 0},
        // Programs read it beside products and store it, along rows and down columns.
        Choice{"norm_between", kNoNd2Nz, kWide, "%5, %7",
               kFirstWide + centred("4", "%3", "64,512", "64,1", 1) + product("5", "%4, %2", "64,64") +
                   product("7", "%3, %2", "64,64"),
               2},
        Choice{"norm_down_columns_between", kNoNd2Nz, kWide, "%5, %7",
               kFirstWide + centred("4", "%3", "64,512", "1,512", 0) + product("5", "%4, %2", "64,64") +
                   product("7", "%3, %2", "64,64"),
               2},
        // Whole rows are one stretch for a program, blocks are many.
        Choice{"only_a_program_reads_it", kNoNd2Nz, kWide, "%5",
               kFirstWide + centred("4", "%3", "64,512", "64,1", 1) + product("5", "%4, %2", "64,64"), 1},
        Choice{"reduced_batch", kNoNd2Nz, kBatches, "%5",
               product("3", "%0, %1", "49,17,64") + centred("4", "%3", "49,17,64", "1,17,64", 0) +
                   product("5", "%4, %2", "49,17,64"),
               0},
        // Rows of batches that do not follow each other pad each of them: 17 rows are two fractals.
        Choice{"many_short_batches", kNd2Nz, kBatches, "%4",
               product("3", "%0, %1", "49,17,64") + product("4", "%3, %2", "49,17,64"), 0},
        Choice{"first_operand_that_is_transposed", kNoNd2Nz, kIn, "%4",
               kFirst + with(product("4", "%3, %2", "64,64"), "{epilogue", "{trans_a=1, epilogue"), 1},
        // A part of it is read by strides of its own; what the program writes is whole.
        Choice{"read_in_part", kNoNd2Nz, "%0 \"x\": f16[64,64], %1 \"v\": f16[64,128], %2 \"w\": f16[64,64]",
               "%5",
               product("3", "%0, %1", "64,128") +
                   centred("4", "%3", "64,64", "64,1", 1, ", parts=[0,2,64,64,64,128,1]") +
                   product("5", "%4, %2", "64,64"),
               1},
        Choice{"beside_rows_of_a_table", kNoNd2Nz, kNamed, "%5, %7",
               kFirst + gathered_plus("6", "3") + product("5", "%4, %1", "64,64") +
                   product("7", "%3, %1", "64,64"),
               2},
        Choice{"a_table_of_rows", kNoNd2Nz, kNamed, "%5",
               kFirst + gathered_plus("3", "6") + product("5", "%4, %1", "64,64"), 1},
        Choice{"bias_of_an_attention", kNoNd2Nz,
               "%0 \"x\": f16[64,64], %1 \"v\": f16[64,192], %2 \"w\": f16[64,64]", "%5",
               product("3", "%0, %1", "64,192") + product("6", "%0, %2", "64,64") +
                   with(with(attention("4", "%3", 2, 32, 64), "%3, %3)", "%3, %3, %6)"), "{scale",
                        "{bias_view=[0,0,0,64,1], scale") +
                   product("5", "%4, %2", "64,64"),
               2},
        Choice{"attention", kNoNd2Nz, "%0 \"x\": f16[64,64], %1 \"v\": f16[64,192], %2 \"w\": f16[64,64]",
               "%5",
               product("3", "%0, %1", "64,192") + attention("4", "%3", 2, 32, 64) +
                   product("5", "%4, %2", "64,64"),
               2},
        Choice{"heads_of_half_a_block", kNoNd2Nz,
               "%0 \"x\": f16[64,64], %1 \"v\": f16[64,192], %2 \"w\": f16[64,64]", "%5",
               product("3", "%0, %1", "64,192") + attention("4", "%3", 8, 8, 64) +
                   product("5", "%4, %2", "64,64"),
               0},
        Choice{"keys_that_begin_within_a_block", kNoNd2Nz,
               "%0 \"x\": f16[64,64], %1 \"v\": f16[64,192], %2 \"w\": f16[64,64]", "%5",
               product("3", "%0, %1", "64,192") + attention("4", "%3", 2, 32, 56) +
                   product("5", "%4, %2", "64,64"),
               1}),
    [](const auto& tested) { return tested.param.name; });

// What the attention writes is given the rows that the product reads.
TEST(FractalChoice, AReshapeBehindAnAttentionIsItsShape) {
  const std::string in = "%0 \"x\": f16[64,64], %1 \"v\": f16[64,192], %2 \"w\": f16[64,64]";
  const std::string heads = with(with(attention("4", "%3", 2, 32, 64), "shape=[64,64]", "shape=[64,2,32]"),
                                 ": f16[64,64]", ": f16[64,2,32]");
  const std::string before =
      air(in, "%5",
          "  %6 \"s\" = const i64[2] {64,64}\n" + product("3", "%0, %1", "64,192") + heads +
              "  %7 = Reshape@14(%4, %6) : f16[64,64]\n" + product("5", "%7, %2", "64,64"));
  const auto graph = graph_of(layout_for(&chip(kNoNd2Nz), before));
  int attentions = 0;
  for (const auto& n : graph->nodes()) {
    EXPECT_FALSE(n->is("Reshape"));
    if (!n->is_internal("Attention")) continue;
    ++attentions;
    EXPECT_EQ(ir::to_string(n->output(0)->type), "f16[64,64] FRACTAL_NZ");
    EXPECT_EQ(n->attrs.get_ints("shape"), (Dims{64, 64}));
  }
  EXPECT_EQ(attentions, 1);
}

// Rows that all meet one matrix are multiplied in the shape in which they are made.
TEST(FractalChoice, AReshapeBeforeAProductForAnAttentionIsItsShape) {
  const std::string in = "%0 \"x\": f16[64,64], %1 \"v\": f16[64,64], %2 \"w\": f16[64,192]";
  const auto graph_with = [&](const std::string& outputs, const std::string& shared) {
    return air(in, outputs,
               "  %6 \"s\" = const i64[3] {64,1,64}\n" + kFirst +
                   "  %7 = Reshape@14(%3, %6) : f16[64,1,64]\n" + shared + attention("4", "%8", 2, 32, 64));
  };
  const std::string before = graph_with("%4", product("8", "%7, %2", "64,1,192"));
  const auto graph = graph_of(layout_for(&chip(kNoNd2Nz), before));
  int products = 0;
  for (const auto& n : graph->nodes()) {
    if (!n->is_internal("MatMul") || n->output(0)->type.dims().back() != 192) continue;
    ++products;
    EXPECT_EQ(ir::to_string(n->input(0)->type), "f16[64,64] FRACTAL_NZ");
    EXPECT_EQ(ir::to_string(n->output(0)->type), "f16[64,192] FRACTAL_NZ");
    EXPECT_EQ(n->attrs.get_graph("epilogue")->inputs()[0]->type.dims(), (Dims{64, 192}));
  }
  EXPECT_EQ(products, 1);
  // The model's output keeps its shape, and so does what has an operand for each row.
  const std::string output = graph_with("%4, %8", product("8", "%7, %2", "64,1,192"));
  EXPECT_EQ(graph_of(layout_for(&chip(kNoNd2Nz), output))->outputs()[1]->type.dims(), (Dims{64, 1, 192}));
  const std::string added = graph_with("%4", product_plus("8", "%7, %2, %0", "64,1,1", "64,1,192"));
  EXPECT_NE(layout_for(&chip(kNoNd2Nz), added).find("f16[64,1,192]"), std::string::npos);
}

}  // namespace
}  // namespace atc::passes
