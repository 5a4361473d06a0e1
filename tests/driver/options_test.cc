#include "driver/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/option_table.h"

namespace atc::driver {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

StatusOr<CompileOptions> read(const Words& words, OptionChecks checks = {.files = false, .supported = true}) {
  ATC_ASSIGN(const CommandLine line, CommandLine::parse(words));
  return read_options(line, checks);
}

/// A complete command with further words.
StatusOr<CompileOptions> with(const Words& more, OptionChecks checks = {.files = false, .supported = true}) {
  Words words = {"--model=m.onnx", "--framework=5", "--output=out/m", "--soc_version=Ascend310P3"};
  words.insert(words.end(), more.begin(), more.end());
  return read(words, checks);
}

Diagnostic error_of(const StatusOr<CompileOptions>& result) {
  EXPECT_FALSE(result.ok());
  return result.ok() ? Diagnostic{} : result.status().diagnostic();
}
std::string code_with(const Words& more) { return error_of(with(more)).code; }

TEST(OptionTable, NamesAreUniqueAndDefaultsLegal) {
  for (const OptionSpec& spec : option_table()) {
    EXPECT_EQ(find_option(spec.name), &spec) << spec.name;
    if (spec.support != Support::Full && spec.name != "auto_tune_mode") {
      EXPECT_FALSE(spec.hint.empty()) << spec.name;
    }
    if (spec.kind == OptionKind::Choice && !spec.default_value.empty()) {
      const std::string choices = "|" + std::string(spec.choices) + "|";
      EXPECT_THAT(choices, HasSubstr("|" + std::string(spec.default_value) + "|")) << spec.name;
    }
  }
}

TEST(CommandLineForms, AllOfGetopt) {
  const auto line =
      CommandLine::parse(Words{"--input-shape", "x:1,-1", "-framework=5", "--out_node=a:0", "--log=info",
                               "--log=error", "--mode", "0", "--print-ir-after=all", "--timing"});
  ASSERT_TRUE(line.ok()) << line.status().to_string();
  EXPECT_EQ((*line).text("input_shape"), "x:1,-1");
  EXPECT_EQ((*line).text("framework"), "5");
  EXPECT_EQ((*line).text("out_nodes"), "a:0");
  EXPECT_EQ((*line).text("log"), "error");  // the last one
  EXPECT_EQ((*line).text("print_ir_after"), "all");
  EXPECT_EQ((*line).text("timing"), "true");
  EXPECT_EQ((*line).text("precision_mode_v2"), "fp16");  // the default
  EXPECT_FALSE((*line).given("precision_mode_v2"));
}

TEST(CommandLineForms, Mistakes) {
  const auto diagnostic = [](const Words& words) {
    const auto line = CommandLine::parse(words);
    EXPECT_FALSE(line.ok());
    return line.ok() ? Diagnostic{} : line.status().diagnostic();
  };
  EXPECT_THAT(diagnostic({"--modell=x"}).message, HasSubstr("Unknown command line flag --modell"));
  EXPECT_THAT(diagnostic({"--modell=x"}).solution, HasSubstr("--model"));
  EXPECT_THAT(diagnostic({"exit"}).message, HasSubstr("Non-option parameter: exit"));
  EXPECT_THAT(diagnostic({"--model=", "x.onnx"}).message, HasSubstr("Non-option parameter: x.onnx"));
  EXPECT_THAT(diagnostic({"--=x"}).message, HasSubstr("Non-option parameter"));
  EXPECT_THAT(diagnostic({"--"}).message, HasSubstr("Non-option parameter"));
  EXPECT_THAT(diagnostic({"--model"}).message, HasSubstr("--model is missing its argument"));
  EXPECT_THAT(diagnostic({"--is_=x"}).message, HasSubstr("ambiguous"));
  EXPECT_THAT(diagnostic({"--is_=x"}).notes.at(0), HasSubstr("--is_weight_clip"));
}

TEST(Options, Defaults) {
  const auto options = with({});
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  const CompileOptions& o = *options;
  EXPECT_EQ(o.mode, Mode::Compile);
  EXPECT_EQ(o.model, "m.onnx");
  EXPECT_EQ(o.om_output(), "out/m.om");
  EXPECT_EQ(o.chip->name, "Ascend310P3");
  EXPECT_EQ(o.precision, passes::Precision::Fp16);
  EXPECT_EQ(o.input_format, "NCHW");
  EXPECT_TRUE(o.input_shapes.empty());
  EXPECT_EQ(o.log, LogLevel::Null);
  EXPECT_EQ(o.export_compile_stat, 1);
  EXPECT_TRUE(o.warnings.empty());
}

TEST(Options, Values) {
  const auto options =
      with({"--input_shape=a:1,2;b:3", "--out_nodes=n:1;k:0", "--output_type=n:1:FP16;k:0:UINT8",
            "--input_fp16_nodes=a;b", "--precision_mode=must_keep_origin_dtype", "--input_format=ND",
            "--log=debug", "--display_model_info=1", "--export_compile_stat=0", "--threads=2",
            "--timing=json", "--report=r.json", "--dump-dir=d", "--print-ir-after=changed"});
  ASSERT_TRUE(options.ok()) << options.status().to_string();
  const CompileOptions& o = *options;
  ASSERT_EQ(o.input_shapes.size(), 2U);
  EXPECT_EQ(o.input_shapes[1].name, "b");
  ASSERT_EQ(o.out_nodes.size(), 2U);
  EXPECT_EQ(o.out_nodes[0].name, "n");
  EXPECT_EQ(o.out_nodes[0].index, 1);
  EXPECT_EQ(o.out_nodes[0].text, "n:1");
  ASSERT_EQ(o.output_types.size(), 2U);
  EXPECT_EQ(o.output_types[1].node, "k");
  EXPECT_EQ(o.output_types[1].dtype, DType::U8);
  EXPECT_THAT(o.input_fp16_nodes, ElementsAre("a", "b"));
  EXPECT_EQ(o.precision, passes::Precision::Origin);
  EXPECT_EQ(o.log, LogLevel::Debug);
  EXPECT_TRUE(o.display_model_info);
  EXPECT_EQ(o.export_compile_stat, 0);
  EXPECT_EQ(o.threads, 2);
  EXPECT_EQ(o.timing, Timing::Json);
  EXPECT_EQ(o.report, "r.json");
  EXPECT_EQ(o.dump_dir, "d");
  EXPECT_EQ(o.print_ir_after, "changed");
  EXPECT_EQ((*with({"--precision_mode_v2=origin"})).precision, passes::Precision::Origin);
  EXPECT_EQ((*with({"--output_type=FP32"})).output_types.at(0).dtype, DType::F32);
  EXPECT_EQ((*with({"--out_nodes=y"})).out_nodes.at(0).index, std::nullopt);
}

TEST(Options, RequiredOnesInAtcsOrder) {
  EXPECT_EQ(error_of(read({})).code, "E10007");
  const auto missing = [](const Words& words) {
    const Diagnostic d = error_of(read(words));
    EXPECT_EQ(d.code, "E10054");
    return d.message;
  };
  EXPECT_THAT(missing({"--framework=5"}), HasSubstr("--soc_version"));
  EXPECT_THAT(missing({"--framework=5", "--soc_version=Ascend310"}), HasSubstr("--output"));
  EXPECT_THAT(missing({"--framework=5", "--soc_version=Ascend310", "--output=x"}), HasSubstr("--model"));
  EXPECT_THAT(missing({"--framework=5", "--soc_version=Ascend310", "--output=", "--model=m"}),
              HasSubstr("--output"));
  EXPECT_THAT(missing({"--mode=1", "--json=x"}), HasSubstr("--om"));
  EXPECT_THAT(missing({"--mode=1", "--om=x"}), HasSubstr("--json"));
  EXPECT_THAT(missing({"--mode=6"}), HasSubstr("--om"));
}

TEST(Options, FirstErrorWins) {
  EXPECT_EQ(
      error_of(read({"--auto_tune_mode=RL,GA"})).message.find("Value RL,GA for parameter --auto_tune_mode"),
      0U);
  EXPECT_EQ(error_of(read({"--input_format=NCWH"})).code, "E10007");
  EXPECT_EQ(error_of(read({"--framework=5", "--input_format=NCWH"})).code, "E10001");
  EXPECT_EQ(code_with({"--input_shape=x", "--precision_mode=fp16"}), "E10001");  // precision before shapes
  EXPECT_EQ(code_with({"--dynamic_dims=1", "--input_shape=x"}), "E10002");       // shapes before gears
}

TEST(Options, OtherFrameworksAreSentToOnnx) {
  for (const char* framework : {"0", "1", "3"}) {
    const Diagnostic d = error_of(read({std::string("--framework=") + framework}));
    EXPECT_EQ(d.code, "E10055");
    EXPECT_THAT(d.solution, HasSubstr("ONNX"));
  }
  EXPECT_EQ(error_of(read({"--framework=2"})).code, "E10001");
  EXPECT_EQ(error_of(read({"--framework=onnx"})).code, "E10003");
}

TEST(Options, BadValues) {
  EXPECT_EQ(code_with({"--mode=2"}), "E10001");
  EXPECT_EQ(code_with({"--mode=3"}), "E10055");
  EXPECT_EQ(code_with({"--mode=x"}), "E10003");
  EXPECT_EQ(code_with({"--log=loud"}), "E10010");
  EXPECT_EQ(code_with({"--enable_small_channel=2"}), "E10006");
  EXPECT_EQ(code_with({"--enable_attr_compression=1"}), "E10005");
  EXPECT_EQ(code_with({"--op_select_implmode=high_preformance"}), "E10001");
  EXPECT_THAT(error_of(with({"--op_select_implmode=high_preformance"})).message,
              EndsWith("did you mean high_performance?"));
  EXPECT_THAT(error_of(with({"--export_compile_stat=3"})).message, EndsWith("it must be one of 0, 1, 2."));
  EXPECT_EQ(code_with({"--optypelist_for_implmode=Gelu"}), "E10001");
  EXPECT_EQ(code_with({"--precision_mode=force_fp16", "--precision_mode_v2=fp16"}), "E10056");
  EXPECT_EQ(code_with({"--modify_mixlist=x.json"}), "E10001");
  EXPECT_EQ(code_with({"--output_type=FP64"}), "E10001");
  EXPECT_EQ(code_with({"--output_type=a:0:FP16"}), "E10001");  // without --out_nodes
  EXPECT_EQ(code_with({"--out_nodes=a:0", "--output_type=a:FP16"}), "E10001");
  EXPECT_EQ(code_with({"--out_nodes=a:0", "--output_type=a:0:FP16;a:0:INT8"}), "E10001");
  EXPECT_EQ(code_with({"--out_nodes=a:0;b"}), "E10001");
  EXPECT_EQ(code_with({"--out_nodes=a:0;;b:0"}), "E10001");
  EXPECT_EQ(code_with({"--enable_compress_weight=true", "--compress_weight_conf=c"}), "E10047");
  EXPECT_EQ(code_with({"--soc_version=Ascend310p3"}), "E10001");
  EXPECT_EQ(code_with({"--output=out/"}), "E10022");
  EXPECT_EQ(code_with({"--output=" + std::string(300, 'x')}), "E10021");
  EXPECT_EQ(code_with({"--threads=-1"}), "E10003");
  EXPECT_EQ(code_with({"--timing=xml"}), "E10001");
  EXPECT_EQ(code_with({"--static_model_ops_lower_limit=-2"}), "E10003");
  EXPECT_EQ(code_with({"--input_shape_range=x:1"}), "E10048");
  EXPECT_EQ(error_of(read({"--mode=6", "--om=x.om", "--framework=5"})).code, "E10057");
  EXPECT_EQ(error_of(read({"--mode=1", "--om=x.onnx", "--json=j", "--framework=5"})).code, "E10055");
}

TEST(Options, GearsExcludeEachOther) {
  const Words shape = {"--input_shape=x:-1,3"};
  EXPECT_EQ(code_with({shape[0], "--dynamic_batch_size=1,2", "--dynamic_dims=1;2"}), "E10009");
  EXPECT_EQ(code_with({shape[0], "--dynamic_batch_size=1,2", "--input_shape_range=x:[1~2,3]"}), "E10009");
  EXPECT_EQ(code_with({shape[0], "--dynamic_dims=1;2", "--input_format=ND", "--insert_op_conf=a.cfg"}),
            "E10001");
  const auto options = with({shape[0], "--dynamic_batch_size=1,2"}, {.files = false, .supported = false});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ((*options).gears.kind, GearKind::Batch);
  EXPECT_EQ((*options).gears.values.size(), 2U);
}

TEST(Options, UnsupportedOnesAreRefusedTogetherByName) {
  const Diagnostic d =
      error_of(with({"--insert_op_conf=a.cfg", "--external_weight=1", "--build_config=k.cfg"}));
  EXPECT_EQ(d.code, "E10055");
  for (const char* name : {"--insert_op_conf", "--external_weight", "--build_config"})
    EXPECT_THAT(d.message, HasSubstr(name));
  EXPECT_FALSE(d.solution.empty());
  // No chip has the type.
  EXPECT_EQ(code_with({"--precision_mode_v2=cube_hif8"}), "E10001");
  EXPECT_TRUE(
      with({"--external_weight=0", "--virtual_type=0", "--core_type=AiCore", "--save_original_model=false",
            "--is_output_adjust_hw_layout=true", "--input_fp16_nodes=a", "--is_input_adjust_hw_layout=false"})
          .ok());
  EXPECT_EQ(code_with({"--input_fp16_nodes=a", "--is_input_adjust_hw_layout=true"}), "E10055");
}

TEST(Options, OpenDimsAreRefusedWithInputAndAxis) {
  const Diagnostic any = error_of(with({"--input_shape=a:1;img:1,3,-1,8"}));
  EXPECT_EQ(any.code, "E10055");
  EXPECT_THAT(any.message, HasSubstr("dim 2 of the input img open (-1)"));
  EXPECT_THAT(error_of(with({"--input_shape=img:[1,3~5]"})).message,
              HasSubstr("dim 1 of the input img open (3~5)"));
}

TEST(Options, HarmlessOnesGiveAWarningUnlessDefault) {
  const auto options = with({"--enable_small_channel=1", "--op_debug_level=0",
                             "--buffer_optimize=off_optimize", "--input_format=NHWC", "--weight=w"});
  ASSERT_TRUE(options.ok());
  std::vector<std::string> messages;
  for (const Diagnostic& w : (*options).warnings) {
    EXPECT_EQ(w.code, "W10001");
    messages.push_back(w.message);
  }
  EXPECT_THAT(messages, ElementsAre(HasSubstr("--weight"), HasSubstr("--input_format=NHWC"),
                                    HasSubstr("--buffer_optimize=off_optimize has no effect"),
                                    HasSubstr("--enable_small_channel=1 has no effect")));
}

TEST(Options, StoredCommandLineHasNoFoldersAndNothingWithoutInfluence) {
  Words words = {"--model=/a/b/m.onnx", "--framework=5",
                 "--output=/tmp/o",     "--soc_version=Ascend310",
                 "--threads=2",         "--log=info",
                 "--report=r.json",     "--input_shape=x:1;y:2",
                 "--input-format",      "ND",
                 "--output_type=FP16"};
  const auto options = read(words);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ((*options).command_line,
            "atc --framework=5 --input_format=ND --input_shape=\"x:1;y:2\" --model=m.onnx --output_type=FP16 "
            "--soc_version=Ascend310");
}

class OptionFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("atc_options_test_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    std::ofstream(folder_ / "m.onnx") << "x";
  }
  void TearDown() override { fs::remove_all(folder_); }
  Words command(const std::string& model, const std::string& output) const {
    return {"--model=" + (folder_ / model).string(), "--framework=5", "--soc_version=Ascend310",
            "--output=" + (folder_ / output).string()};
  }
  std::string code(const std::string& model, const std::string& output,
                   const std::string& more = "--mode=0") const {
    Words words = command(model, output);
    words.push_back(more);
    const auto options = read(words, {});
    return options.ok() ? "" : options.status().diagnostic().code;
  }
  fs::path folder_;
};

TEST_F(OptionFiles, InputsExistAndOutputsCanBeMade) {
  EXPECT_EQ(code("m.onnx", "new/folder/o"), "");
  EXPECT_FALSE(fs::exists(folder_ / "new"));  // checking creates nothing
  EXPECT_EQ(code("none.onnx", "o"), "E13000");
  EXPECT_EQ(code(".", "o"), "E13000");
  EXPECT_EQ(code("m.onnx", "m.onnx/o"), "E13001");
  fs::create_directories(folder_ / "d.om");
  EXPECT_EQ(code("m.onnx", "d"), "E13001");
  EXPECT_EQ(code("m.onnx", "o", "--weight=" + (folder_ / "w").string()), "E13000");
  EXPECT_EQ(code("m.onnx", "o", "--op_debug_config=" + (folder_ / "w").string()), "E13000");
  EXPECT_EQ(code("m.onnx", "o", "--report=" + (folder_ / "m.onnx" / "r").string()), "E13001");
}

TEST_F(OptionFiles, AReportIsNoOtherFileOfTheRun) {
  const auto report = [&](const fs::path& path) { return "--report=" + path.string(); };
  fs::create_directories(folder_ / "sub");
  fs::create_symlink(folder_, folder_ / "link");
  for (const fs::path& path :
       {fs::path("o.om"), fs::path("sub/../o.om"), fs::path("link/o.om"), fs::path("m.onnx")})
    EXPECT_EQ(code("m.onnx", "o", report(folder_ / path)), "E10001") << path;
  EXPECT_EQ(code("m.onnx", "o", report(folder_ / "o.json")), "");
  EXPECT_EQ(code("m.onnx", "o", report(folder_ / "sub/o.om")), "");
  // Beside the working directory's file of that name, every other one is free.
  EXPECT_EQ(code("m.onnx", "o", report(fs::current_path() / "fusion_result.json")), "E10001");
  EXPECT_EQ(code("m.onnx", "o", report(folder_ / "fusion_result.json")), "");
}

/// Options that read files of these contents.
class PrecisionFiles : public ::testing::Test {
 protected:
  PrecisionFiles() {
    folder_ = fs::temp_directory_path() / ("option_files_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    file("m.onnx", "x");
  }
  ~PrecisionFiles() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  StatusOr<CompileOptions> with(const Words& more) const {
    Words words = {"--model=" + (folder_ / "m.onnx").string(), "--framework=5",
                   "--output=" + (folder_ / "m").string(), "--soc_version=Ascend910B3"};
    words.insert(words.end(), more.begin(), more.end());
    return read(words, {.files = true, .supported = true});
  }

  fs::path folder_;
};

// What says more of a node comes later, and wins.
TEST_F(PrecisionFiles, PrecisionEntriesComeInOrder) {
  const auto o =
      with({"--customize_dtypes=" + file("c", "a:OutputDtype:bfloat16\n"), "--keep_dtype=" + file("k", "b\n"),
            "--op_precision_mode=" + file("p", "[ByOpType]\nGelu=high_performance\n"),
            "--modify_mixlist=" + file("m", R"({"black-list": {"to-add": ["Exp"]}})"),
            "--op_select_implmode=high_precision", "--optypelist_for_implmode=Tanh",
            "--precision_mode_v2=mixed_bfloat16"});
  ASSERT_TRUE(o.ok()) << o.status().to_string();
  std::vector<std::string> options;
  for (const PrecisionEntry& e : o->node_precisions) options.push_back(e.asked.option);
  EXPECT_THAT(options, ElementsAre("--op_select_implmode", "--modify_mixlist", "--op_precision_mode",
                                   "--keep_dtype", "--customize_dtypes"));
}

TEST_F(PrecisionFiles, ABadFileIsOneDiagnosticThatNamesIt) {
  for (const char* option : {"keep_dtype", "customize_dtypes", "op_precision_mode"}) {
    const Diagnostic d =
        error_of(with({"--" + std::string(option) + "=" + file("bad.cfg", "[x]\nOpType::\n")}));
    EXPECT_EQ(d.code, "E10001") << option;
    EXPECT_THAT(d.message, HasSubstr("bad.cfg")) << option;
    EXPECT_THAT(d.message, HasSubstr("--" + std::string(option))) << option;
    EXPECT_EQ(error_of(with({"--" + std::string(option) + "=none.cfg"})).code, "E13000") << option;
  }
  EXPECT_EQ(
      error_of(with({"--modify_mixlist=" + file("bad.json", "{"), "--precision_mode_v2=mixed_float16"})).code,
      "E10032");
}

TEST(Options, PrecisionThatTheChipLacksIsNamedAsItWasGiven) {
  const std::map<std::string, std::string> given = {
      {"--precision_mode=allow_fp32_to_bf16", "Value allow_fp32_to_bf16 for parameter --precision_mode is"},
      {"--precision_mode=allow_mix_precision_bf16",
       "Value allow_mix_precision_bf16 for parameter --precision_mode is"},
      {"--precision_mode_v2=mixed_bfloat16", "Value mixed_bfloat16 for parameter --precision_mode_v2 is"}};
  for (const auto& [option, text] : given) {
    auto options = with({option});
    ASSERT_TRUE(options.ok()) << options.status().to_string();
    options->chip = *soc::find_chip("Ascend310P3");
    CompileResult result;
    const Status status = compile(*options, result);
    ASSERT_FALSE(status.ok());
    EXPECT_THAT(status.diagnostic().message, HasSubstr(text));
    EXPECT_THAT(status.diagnostic().message, HasSubstr("Ascend310P3 has no bfloat16"));
  }
}

TEST_F(PrecisionFiles, LevelThenSwitches) {
  const std::string sw =
      "--fusion_switch_file=" + file("s", "attention-fusion:on\ndecompose:off\nprecision:off\n");
  const auto o1 = with({sw, "--oo_level=O1", "--optimization_switch=AutomaticUbFusion:on"});
  ASSERT_TRUE(o1.ok()) << o1.status().to_string();
  EXPECT_TRUE(o1->switches.basic_only);
  // The level beats what the file turns on.
  EXPECT_FALSE(o1->switches.passes.contains("attention-fusion"));
  EXPECT_TRUE(o1->switches.passes.at("AutomaticUbFusion"));
  EXPECT_FALSE(o1->switches.passes.at("decompose"));
  ASSERT_EQ(o1->warnings.size(), 1u);
  EXPECT_THAT(o1->warnings[0].message, HasSubstr("pass precision cannot be turned off"));
  const auto o3 = with({sw});
  EXPECT_FALSE(o3->switches.basic_only);
  EXPECT_TRUE(o3->switches.passes.at("attention-fusion"));
  EXPECT_EQ(error_of(with({"--oo_level=O2"})).code, "E10001");
  EXPECT_FALSE(o3->keeps_dead_code);
  EXPECT_FALSE(o3->switches.passes.contains("constant-folding"));
  const auto off = with({"--oo_constant_folding=false", "--oo_dead_code_elimination=false"});
  ASSERT_TRUE(off.ok()) << off.status().to_string();
  EXPECT_TRUE(off->warnings.empty()) << "they have an effect";
  EXPECT_TRUE(off->keeps_dead_code);
  EXPECT_FALSE(off->switches.passes.at("constant-folding"));
  EXPECT_EQ(error_of(with({"--oo_constant_folding=off"})).code, "E10005");
  EXPECT_EQ(error_of(with({"--fusion_switch_file=" + file("t", "a:on\na:off\n")})).code, "E10001");
}

}  // namespace
}  // namespace atc::driver
