#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstring>

#include "command.h"
#include "custom/library_source.h"

namespace atc::cli {
namespace {

using custom_test::Folder;
using custom_test::LibrarySource;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kRows = 3, kCols = 5, kCount = kRows * kCols;

void set_type(onnx::ValueInfoProto* v, const std::string& name, const std::vector<std::string>& dims) {
  v->set_name(name);
  auto* t = v->mutable_type()->mutable_tensor_type();
  t->set_elem_type(onnx::TensorProto::FLOAT);
  for (const std::string& d : dims) {
    auto* dim = t->mutable_shape()->add_dim();
    if (d.find_first_not_of("0123456789") == std::string::npos)
      dim->set_dim_value(std::stoll(d));
    else
      dim->set_dim_param(d);
  }
}

/// y = op(x), x and y f32[3,5]; behind an Abs, so that the operator works on an activation.
struct Model {
  std::string op = "Twice", domain = "example", attribute = "factor";
  float value = 3;
  std::vector<std::string> dims = {"3", "5"};
  std::string head = "Abs";  ///< makes what the operator reads

  void write(const std::filesystem::path& path) const {
    onnx::ModelProto m;
    m.set_ir_version(8);
    m.add_opset_import()->set_version(17);
    if (!domain.empty()) {
      auto* set = m.add_opset_import();
      set->set_domain(domain);
      set->set_version(1);
    }
    auto* g = m.mutable_graph();
    g->set_name("g");
    auto* abs = g->add_node();
    abs->set_op_type(head);
    abs->add_input("x");
    abs->add_output("a");
    auto* n = g->add_node();
    n->set_op_type(op);
    n->set_domain(domain);
    n->set_name("the_node");
    n->add_input("a");
    n->add_output("y");
    if (!attribute.empty()) {
      auto* a = n->add_attribute();
      a->set_name(attribute);
      a->set_type(onnx::AttributeProto::FLOAT);
      a->set_f(value);
    }
    set_type(g->add_input(), "x", dims);
    set_type(g->add_output(), "y", dims);
    std::ofstream(path, std::ios::binary) << m.SerializeAsString();
  }
};

/// Model and library in one folder.
class CustomOp : public ::testing::Test {
 protected:
  Outcome compile(const LibrarySource& library, const Model& model, const std::string& more = {}) {
    EXPECT_FALSE(library.build(folder_).empty());
    model.write(folder_ / "m.onnx");
    return run(
        program("atc") +
            " --framework=5 --export_compile_stat=0 --soc_version=Ascend910B3 --output=m --model=m.onnx "
            "--custom_op=" +
            library.type + ":twice.so " + more,
        folder_.path());
  }
  /// Runs m.om on -1, 2, -3, ...; y.
  Outcome execute(std::vector<float>* y = nullptr) {
    std::vector<float> x(kCount);
    for (int i = 0; i < kCount; ++i)
      x[static_cast<std::size_t>(i)] = static_cast<float>(i % 2 == 0 ? -i - 1 : i + 1);
    std::ofstream(folder_ / "x.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(x.data()), kCount * static_cast<std::streamsize>(sizeof(float)));
    const Outcome o =
        run(program("omrun") + " --model m.om --input x.bin --output out --json", folder_.path());
    if (y == nullptr) return o;
    const std::string bytes = slurp(folder_ / "out/m_output_0.bin");
    y->resize(bytes.size() / sizeof(float));
    std::memcpy(y->data(), bytes.data(), y->size() * sizeof(float));
    return o;
  }
  void expect_times(float factor) {
    std::vector<float> y;
    const Outcome o = execute(&y);
    ASSERT_EQ(o.code, 0) << o.out;
    ASSERT_EQ(y.size(), static_cast<std::size_t>(kCount));
    for (int i = 0; i < kCount; ++i)
      EXPECT_EQ(y[static_cast<std::size_t>(i)], factor * static_cast<float>(i + 1)) << i;
  }
  Folder folder_;
};

TEST_F(CustomOp, TakesANodeOfItsDomainAndTravelsInTheFile) {
  const Outcome o = compile({}, {}, "--precision_mode_v2=origin --report=r.json");
  ASSERT_EQ(o.code, 0) << o.out;
  std::filesystem::remove(folder_ / "twice.so");
  expect_times(3);
  const std::string report = slurp(folder_ / "r.json");
  EXPECT_THAT(report, AllOf(HasSubstr("\"custom_operators\""), HasSubstr("\"the_node\""),
                            HasSubstr("\"twice.so\""), HasSubstr("\"engine\": \"Custom\"")));
  EXPECT_THAT(execute().out, AllOf(HasSubstr("\"custom\""), HasSubstr("a run on seeded data")));
}

TEST_F(CustomOp, TakesStandardOperatorsAndOrigins) {
  LibrarySource relu;
  relu.type = "Relu";
  ASSERT_EQ(compile(relu, {"Relu", "", "", 0}, "--precision_mode_v2=origin").code, 0);
  expect_times(2);  // the library's default of factor
  ASSERT_EQ(compile({}, {"Twofold", "", "", 0}, "--precision_mode_v2=origin").code, 0);
  expect_times(2);
}

TEST_F(CustomOp, GetsTheTypesThatItSupports) {
  LibrarySource half;
  half.dtypes = "ATC_DT_FLOAT16";
  half.element = "_Float16";
  const Outcome o = compile(half, {}, "--precision_mode_v2=origin");
  ASSERT_EQ(o.code, 0) << o.out;
  expect_times(3);
  LibrarySource integers;
  integers.dtypes = "ATC_DT_INT32";
  EXPECT_THAT(compile(integers, {}).out,
              AllOf(HasSubstr("E10055"), HasSubstr("the_node"), HasSubstr("(f32)"), HasSubstr("(i32)")));
}

TEST_F(CustomOp, MayStayOutsideOfTheFile) {
  ASSERT_EQ(compile({}, {}, "--precision_mode_v2=origin --custom_op_embed=0").code, 0);
  expect_times(3);
  LibrarySource other;
  other.global = "int other_version;";
  other.build(folder_);
  EXPECT_THAT(execute().out, AllOf(HasSubstr("E10041"), HasSubstr("the model expects the SHA-256"),
                                   HasSubstr("twice.so has")));
  std::filesystem::remove(folder_ / "twice.so");
  EXPECT_THAT(execute().out, AllOf(HasSubstr("E13000"), HasSubstr("twice.so")));
}

TEST_F(CustomOp, CompilesToTheSameBytes) {
  ASSERT_EQ(compile({}, {}, "--threads=1").code, 0);
  const std::string first = slurp(folder_ / "m.om");
  ASSERT_EQ(compile({}, {}, "--threads=2").code, 0);
  EXPECT_EQ(slurp(folder_ / "m.om"), first);
}

TEST_F(CustomOp, IsRefusedWithBothSidesValues) {
  EXPECT_THAT(compile({}, {"Twice", "example", "alpha", 1}).out,
              AllOf(HasSubstr("E16006"), HasSubstr("attribute alpha"), HasSubstr("which has factor")));
  LibrarySource required;
  required.attr_required = "1";
  EXPECT_THAT(compile(required, {"Twice", "example", "", 0}).out, HasSubstr("required attribute factor"));
  LibrarySource chip;
  chip.chips = "\"ascend310p\"";
  EXPECT_THAT(compile(chip, {}).out, AllOf(HasSubstr("ascend310p"), HasSubstr("Ascend910B3")));
  LibrarySource open;
  open.infer = "outputs[0].rank = 2; outputs[0].dims[0] = 3; outputs[0].dims[1] = -1; return 0;";
  EXPECT_THAT(compile(open, {}).out,
              AllOf(HasSubstr("E89999"), HasSubstr("output 0 'y' open"), HasSubstr("[3,-1]")));
  LibrarySource many;
  many.tiling = "tiling->block_dim = 100; tiling->schedule_mode = 1; return 0;";
  EXPECT_THAT(compile(many, {}).out,
              AllOf(HasSubstr("100 blocks that wait for each other"), HasSubstr("40 vector cores")));
  LibrarySource workspace;
  workspace.tiling = "tiling->workspace_bytes = 1ull << 50; return 0;";
  EXPECT_THAT(compile(workspace, {}).out,
              AllOf(HasSubstr("1125899906842624 bytes"), HasSubstr("Global Memory")));
  for (const auto& [blocks, number] : {std::pair{"0", "0 blocks"}, std::pair{"70000", "70000 blocks"}}) {
    LibrarySource beyond;
    beyond.tiling = std::string("tiling->block_dim = ") + blocks + "; return 0;";
    EXPECT_THAT(compile(beyond, {}).out, AllOf(HasSubstr(number), HasSubstr("1 to 65535 are possible")));
  }
  LibrarySource kind;
  kind.tiling = "tiling->kernel_type = 99; return 0;";
  EXPECT_THAT(compile(kind, {}).out, HasSubstr("the kernel type 99, which does not exist"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m.om"));
}

TEST_F(CustomOp, CrashesAreDiagnosticsOfCompilerAndRunner) {
  LibrarySource shape;
  shape.infer = "return *(volatile int*)0;";
  const Outcome compiled = compile(shape, {});
  EXPECT_EQ(compiled.code, 255);
  EXPECT_THAT(compiled.out,
              AllOf(HasSubstr("E40021"), HasSubstr("signal 11"), HasSubstr("inferring the shapes of Twice")));
  LibrarySource kernel;
  kernel.kernel = "if (block->block_idx == 1) *(volatile int*)8 = 1;";
  ASSERT_EQ(compile(kernel, {}).code, 0);
  const Outcome ran = execute();
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("E40021"), HasSubstr("block 1"), HasSubstr("the_node")));
}

TEST_F(CustomOp, PrintsOnceAndTellsOfOutputsThatNobodyWrote) {
  const auto times = [](const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  LibrarySource prints;
  prints.kernel =
      "const AtcSite site = {__FILE__, __LINE__}; if (block->block_idx == 1) api->print(block, &site, "
      "\"hello\\n\");" +
      prints.kernel;
  ASSERT_EQ(compile(prints, {}).code, 0);
  const Outcome complete = execute();
  EXPECT_EQ(complete.code, 0) << complete.out;
  EXPECT_EQ(times(complete.out, "hello"), 1U) << complete.out;
  EXPECT_THAT(complete.out, Not(HasSubstr("unwritten-output")));
  LibrarySource lazy;
  lazy.kernel =
      "const Data* d = (const Data*)args[3]; if (block->block_idx == 0) for (uint32_t i = 0; i + 2 < d->n; "
      "++i) ((T*)args[1])[i] = 1;";
  ASSERT_EQ(compile(lazy, {}).code, 0);
  const Outcome o = execute();
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_THAT(o.out, AllOf(HasSubstr("warning: 8 of "), HasSubstr("bytes of output 'y'"),
                           HasSubstr("[unwritten-output]")));
}

TEST_F(CustomOp, ToolsThatDoNotRunTheModelDoNotLoadTheLibrary) {
  LibrarySource loud;
  loud.global = "__attribute__((constructor)) static void loud(void) { fputs(\"LOADED\\n\", stderr); }";
  const Outcome compiled = compile(loud, {});
  ASSERT_EQ(compiled.code, 0) << compiled.out;
  EXPECT_THAT(compiled.out, HasSubstr("LOADED"));
  const Outcome info = run(program("atc") + " --mode=6 --om=m.om", folder_.path());
  EXPECT_EQ(info.code, 0) << info.out;
  const Outcome json = run(program("atc") + " --mode=1 --om=m.om --json=m.json", folder_.path());
  EXPECT_EQ(json.code, 0) << json.out;
  const Outcome diff = run(program("omdiff") + " m.om m.om", folder_.path());
  EXPECT_EQ(diff.code, 0) << diff.out;
  EXPECT_THAT(info.out + json.out + diff.out, Not(HasSubstr("LOADED")));
  EXPECT_THAT(slurp(folder_ / "m.json"), HasSubstr("Twice"));
}

TEST_F(CustomOp, ThatNothingTakesIsAWarning) {
  const Outcome o = compile({}, {"Relu", "", "", 0});
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_THAT(o.out, AllOf(HasSubstr("W10001"), HasSubstr("Twice"), HasSubstr("has no effect")));
  LibrarySource other;
  other.type = "SwiGlu";
  other.chips = "\"ascend310p\"";
  EXPECT_THAT(compile(other, {"Relu", "", "", 0}).out,
              AllOf(HasSubstr("W10001"), HasSubstr("it is made for ascend310p"), HasSubstr("Ascend910B3")));
}

TEST_F(CustomOp, ShapesThatDependOnDataAreRefused) {
  Model model;
  model.head = "Unique";
  const Outcome o = compile({}, model);
  EXPECT_NE(o.code, 0);
  EXPECT_THAT(o.out,
              AllOf(HasSubstr("E10055"), HasSubstr("the_node"), HasSubstr("where shapes depend on data")));
}

TEST_F(CustomOp, DamagedLibrariesAreFound) {
  ASSERT_EQ(compile({}, {}).code, 0);
  std::string om = slurp(folder_ / "m.om");
  const std::size_t at = om.find("\177ELF");
  ASSERT_NE(at, std::string::npos);
  om[at + 100] = static_cast<char>(om[at + 100] ^ 1);
  std::ofstream(folder_ / "m.om", std::ios::binary) << om;
  EXPECT_THAT(execute().out,
              AllOf(HasSubstr("E10041"), HasSubstr("the embedded library twice.so has the SHA-256")));
}

}  // namespace
}  // namespace atc::cli
