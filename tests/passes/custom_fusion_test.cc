#include "passes/custom_fusion.h"

#include "custom/library_source.h"
#include "pass_testing.h"
#include "passes/custom_patterns.h"
#include "passes/custom_types.h"

namespace atc::passes {
namespace {

using custom_test::Folder;
using custom_test::LibrarySource;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const soc::Chip& chip() { return **soc::find_chip("Ascend910B3"); }

/// An operator of one input that halves the last axis.
LibrarySource halving() {
  LibrarySource source;
  source.type = "SwiGlu";
  source.infer =
      "outputs[0] = call->inputs[0]; outputs[0].data = NULL; outputs[0].dtype = ATC_DT_FLOAT;"
      "outputs[0].dims[call->inputs[0].rank - 1] /= 2; return 0;";
  return source;
}

struct Loaded {
  explicit Loaded(const LibrarySource& source) {
    const Folder folder;
    auto library = custom::Library::open(source.build(folder));
    EXPECT_TRUE(library.ok()) << library.status().to_string();
    operators.entries.push_back({*library, 0, true});
  }
  CustomOperators operators;
};

std::string gated(const std::string& parts, const std::string& outputs = "%9") {
  return air("%0 \"x\": f32[5,8], %1 \"z\": f32[5,4]", outputs,
             parts +
                 "  %6 = Sigmoid@13(%3) : f32[5,4]\n"
                 "  %7 = Mul@14(%6, %3) : f32[5,4]\n"
                 "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n");
}
const std::string kSplit = "  %3, %4 = Split@11(%0) {axis=1, split=[4,4]} : f32[5,4], f32[5,4]\n";

std::string fused(const Loaded& loaded, const std::string& text, int expected,
                  std::vector<CustomTaken>* taken = nullptr) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  std::vector<CustomTaken> mine;
  const auto count = fuse_custom(**graph, loaded.operators, chip(), taken != nullptr ? *taken : mine);
  if (!count.ok()) return count.status().to_string();
  EXPECT_EQ(*count, expected);
  EXPECT_EQ(ir::verify(**graph), "");
  const auto again = fuse_custom(**graph, loaded.operators, chip(), mine);
  EXPECT_TRUE(again.ok() && *again == 0) << "a second run finds nothing";
  return ir::print(**graph);
}

TEST(CustomFusion, TakesAGatedUnitWhereItsHalvesLie) {
  const Loaded loaded(halving());
  std::vector<CustomTaken> taken;
  EXPECT_THAT(fused(loaded, gated(kSplit), 1, &taken),
              AllOf(HasSubstr("atc::Custom(%0)"), HasSubstr("atc_op=\"SwiGlu\""), Not(HasSubstr("Split")),
                    Not(HasSubstr("Sigmoid"))));
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].pattern, "SwiGlu");
  EXPECT_EQ(taken[0].library, "twice.so");
}

TEST(CustomFusion, JoinsPartsThatLieApart) {
  const Loaded loaded(halving());
  EXPECT_THAT(fused(loaded,
                    air("%3 \"g\": f32[5,4], %4 \"u\": f32[5,4]", "%9",
                        "  %6 = Sigmoid@13(%3) : f32[5,4]\n"
                        "  %7 = Mul@14(%6, %3) : f32[5,4]\n"
                        "  %9 \"y\" = Mul@14(%4, %7) : f32[5,4]\n"),
                    1),
              AllOf(HasSubstr("Concat@13("), HasSubstr("atc::Custom(")));
}

TEST(CustomFusion, LeavesWhatTheModelShows) {
  const Loaded loaded(halving());
  EXPECT_THAT(fused(loaded, gated(kSplit, "%9, %7"), 0), Not(HasSubstr("Custom")));
  LibrarySource other;
  EXPECT_FALSE(has_custom_patterns(Loaded(other).operators, chip()));
  EXPECT_TRUE(has_custom_patterns(loaded.operators, chip()));
}

TEST(CustomFusion, RefusesAnOperatorThatGivesAnotherShape) {
  LibrarySource same;
  same.type = "SwiGlu";
  EXPECT_THAT(fused(Loaded(same), gated(kSplit), 0),
              AllOf(HasSubstr("E89999"), HasSubstr("gives [5,8]"), HasSubstr("[5,4]")));
}

TEST(CustomFusion, NeedsTheAttributesOfTheSubgraph) {
  LibrarySource norm;
  norm.type = "RmsNorm";  // takes one input, has no epsilon
  EXPECT_THAT(fused(Loaded(norm),
                    air("%0 \"x\": f32[2,8], %1 \"g\": f32[8]", "%9",
                        "  %2 = Mul@14(%0, %0) : f32[2,8]\n"
                        "  %3 = ReduceMean@13(%2) {axes=[-1]} : f32[2,1]\n"
                        "  %4 \"e\" = const f32[] splat 1e-05\n"
                        "  %5 = Add@14(%3, %4) : f32[2,1]\n"
                        "  %6 = Sqrt@13(%5) : f32[2,1]\n"
                        "  %7 = Div@14(%0, %6) : f32[2,8]\n"
                        "  %9 \"y\" = Mul@14(%7, %1) : f32[2,8]\n"),
                    0),
              Not(HasSubstr("Custom")));
}

template <class F>
auto match_last(const std::string& text, const F& f) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  return f(*(*graph)->node_list().back()).has_value();
}

std::string norm(const std::string& axes) {
  return air("%0 \"x\": f32[2,8], %1 \"g\": f32[8]", "%9",
             "  %2 = Mul@14(%0, %0) : f32[2,8]\n"
             "  %3 = ReduceMean@13(%2) {axes=[" +
                 axes +
                 "]} : f32[2,1]\n"
                 "  %4 \"e\" = const f32[] splat 1e-05\n"
                 "  %5 = Add@14(%3, %4) : f32[2,1]\n"
                 "  %6 = Sqrt@13(%5) : f32[2,1]\n"
                 "  %7 = Div@14(%0, %6) : f32[2,8]\n"
                 "  %9 \"y\" = Mul@14(%7, %1) : f32[2,8]\n");
}

TEST(CustomPatterns, RmsNormOverTheLastAxisOnly) {
  EXPECT_TRUE(match_last(norm("1"), match_rms_norm));
  EXPECT_FALSE(match_last(norm("0"), match_rms_norm));
}

std::string rope(const std::string& neg, const std::string& concat) {
  return air("%0 \"x\": f32[2,6,8], %1 \"cos\": f32[6,8], %2 \"sin\": f32[6,8]", "%9",
             "  %3, %4 = Split@11(%0) {axis=-1, split=[4,4]} : f32[2,6,4], f32[2,6,4]\n"
             "  %5 = Neg@13(" +
                 neg + ") : f32[2,6,4]\n  %6 = Concat@13(" + concat +
                 ") {axis=-1} : f32[2,6,8]\n"
                 "  %7 = Mul@14(%0, %1) : f32[2,6,8]\n"
                 "  %8 = Mul@14(%6, %2) : f32[2,6,8]\n"
                 "  %9 \"y\" = Add@14(%7, %8) : f32[2,6,8]\n");
}

TEST(CustomPatterns, RopeTurnsTheHighHalf) {
  EXPECT_TRUE(match_last(rope("%4", "%5, %3"), match_rope));
  EXPECT_FALSE(match_last(rope("%3", "%5, %4"), match_rope));
  EXPECT_FALSE(match_last(rope("%3", "%4, %5"), match_rope));
}

TEST(CustomTypes, CastsToWhatTheLibraryHas) {
  LibrarySource half;
  half.dtypes = "ATC_DT_FLOAT16";
  const Loaded loaded(half);
  auto graph = ir::parse(air("%0 \"x\": f32[2,3]", "%1", "  %1 \"y\" = Twice@1(%0) : f32[2,3]\n"));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  std::vector<CustomTaken> taken;
  ASSERT_TRUE(take_custom_nodes(**graph, loaded.operators, chip(), taken).ok());
  PassContext context;
  const auto casts = custom_types_pass().run(**graph, context);
  ASSERT_TRUE(casts.ok()) << casts.status().to_string();
  EXPECT_EQ(*casts, 2);
  EXPECT_EQ((*graph)->outputs()[0]->name(), "y");
  EXPECT_EQ((*graph)->outputs()[0]->type.dtype, DType::F32);
  EXPECT_EQ(ir::verify(**graph), "");
  EXPECT_EQ(*custom_types_pass().run(**graph, context), 0) << "a second run changes nothing";
}

}  // namespace
}  // namespace atc::passes
