#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace atc::cli {
namespace {

std::string atc(const std::string& more) {
  return program("atc") + " --framework=5 --soc_version=Ascend910B3 --export_compile_stat=0 " + more;
}
std::string lenet(const std::string& more) { return atc("--model=" + model("lenet5.onnx") + " " + more); }

TEST(Atc, CompilesAndSaysSo) {
  Scratch s;
  const Outcome o = run(lenet("--output=net"), s.path());
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_EQ(
      o.out,
      "ATC start working now, please wait for a moment.\n...\nATC run success, welcome to the next use.\n");
  EXPECT_EQ(s.files(), 1U);
  EXPECT_TRUE(std::filesystem::exists(s / "net.om"));
}

// The same work gives the same file, whatever the thread count, the folder and the time.
TEST(Atc, SameInputsGiveTheSameBytes) {
  Scratch a, b;
  std::filesystem::create_directories(b / "deep/er");
  ASSERT_EQ(run(lenet("--output=net --threads=1"), a.path()).code, 0);
  ASSERT_EQ(run(lenet("--output=deep/er/net --threads=2"), b.path()).code, 0);
  EXPECT_EQ(slurp(a / "net.om"), slurp(b / "deep/er/net.om"));
}

TEST(Atc, EveryChipCompiles) {
  Scratch s;
  const Outcome list = run(program("atc") + " --list=socs", s.path());
  ASSERT_EQ(list.code, 0);
  for (const char* soc :
       {"Ascend310", "Ascend310P3", "Ascend310B1", "Ascend910A", "Ascend910B1", "Ascend910_9382"}) {
    EXPECT_NE(list.out.find(soc), std::string::npos) << list.out;
    const Outcome o = run(program("atc") + " --framework=5 --export_compile_stat=0 --soc_version=" + soc +
                              " --model=" + model("lenet5.onnx") + " --output=net && " + program("omrun") +
                              " --model net.om --input " + model("lenet5_digit.npy"),
                          s.path());
    EXPECT_EQ(o.code, 0) << soc << o.out;
  }
  const Outcome wrong =
      run(program("atc") + " --framework=5 --soc_version=ascend910b3 --model=" + model("lenet5.onnx") +
              " --output=n",
          s.path());
  EXPECT_EQ(wrong.code, 255);
  EXPECT_NE(wrong.out.find("Ascend910B3"), std::string::npos) << wrong.out;
}

TEST(Atc, ReportListsTasksEnginesAndTiles) {
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net --report=r.json"), s.path()).code, 0);
  const std::string report = slurp(s / "r.json");
  for (const char* key : {"\"schema_version\": 1", "\"AiCore\"", "\"kernel\": \"cube_conv\"", "\"blocks\"",
                          "\"tiles\"", "\"macs\"", "conv2", "arena_bytes"})
    EXPECT_NE(report.find(key), std::string::npos) << key;
}

// What omrun says of the .om: the same times and limits, task by task.
TEST(Atc, ReportTellsTimesTilingsAndLimits) {
  using nlohmann::json;
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net --report=r.json"), s.path()).code, 0);
  ASSERT_EQ(run(program("omrun") + " --model net.om --dry-run --profile p", s.path()).code, 0);
  const json report = json::parse(slurp(s / "r.json")), profile = json::parse(slurp(s / "p/profile.json"));
  EXPECT_DOUBLE_EQ(report["totals"]["us"], profile["us"]);
  EXPECT_GE(report["totals"]["gm_bytes"], report["totals"]["compulsory_bytes"]);
  ASSERT_EQ(report["tasks"].size(), profile["tasks"].size());
  bool cube = false, blocks = false;
  for (std::size_t t = 0; t < report["tasks"].size(); ++t) {
    const json &task = report["tasks"][t], &same = profile["tasks"][t];
    for (const char* key : {"name", "us", "bound_by", "blocks"}) EXPECT_EQ(task[key], same[key]) << key;
    EXPECT_FALSE(task["input_formats"].empty());
    ASSERT_EQ(task["output_formats"].size(), 1U);
    const bool first = t == 0, last = t + 1 == report["tasks"].size();
    EXPECT_TRUE(!first || task["input_formats"][0] == "ND");
    EXPECT_TRUE(!last || task["output_formats"][0] == "ND");
    blocks = blocks || task["output_formats"][0] == "NC1HWC0";
    if (task["kernel"] != "cube_conv" && task["kernel"] != "cube_matmul") continue;
    cube = true;
    for (const char* field : {"m", "n", "k", "a_buffers", "b_buffers", "l0c_buffers"})
      EXPECT_GE(task["tiling"][field].get<int>(), 1) << field;
    EXPECT_EQ(task["tiling"]["n"].get<int>() % 16, 0);
  }
  EXPECT_TRUE(cube);
  EXPECT_TRUE(blocks);
}

// fp32 on a cube that has none is an extension of the simulator, and the report says so for each task.
TEST(Atc, ReportMarksTheFp32CubeExtension) {
  Scratch s;
  const auto report = [&](const std::string& soc, const std::string& precision) {
    const std::string command = program("atc") +
                                " --framework=5 --export_compile_stat=0 --soc_version=" + soc +
                                " --precision_mode_v2=" + precision + " --model=" + model("lenet5.onnx") +
                                " --output=net --report=r.json";
    EXPECT_EQ(run(command, s.path()).code, 0);
    return slurp(s / "r.json");
  };
  const std::string mark = "\"cube_f32\": \"extension\"";
  EXPECT_NE(report("Ascend310P3", "origin").find(mark), std::string::npos);
  EXPECT_EQ(report("Ascend310P3", "fp16").find(mark), std::string::npos);
  EXPECT_EQ(report("Ascend910B3", "origin").find(mark), std::string::npos);
}

TEST(Atc, ReportListsPrecisionChanges) {
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net --report=r.json"), s.path()).code, 0);
  const std::string report = slurp(s / "r.json");
  for (const char* key : {"\"precision\"", "\"changes\"", "\"narrowed_values\"", "\"casts\""})
    EXPECT_NE(report.find(key), std::string::npos) << key;
  EXPECT_EQ(report.find("\"narrowed_values\": 0"), std::string::npos);
}

TEST(Atc, FusionResultIsWritten) {
  Scratch s;
  ASSERT_EQ(run(program("atc") + " --framework=5 --soc_version=Ascend910B3 --model=" + model("lenet5.onnx") +
                    " --output=net",
                s.path())
                .code,
            0);
  const std::string json = slurp(s / "fusion_result.json");
  EXPECT_NE(json.find("session_and_graph_id_0_0"), std::string::npos) << json;
  EXPECT_NE(json.find("\"effect_times\": \"2\""), std::string::npos) << json;
}

TEST(Atc, ModesOneAndSixReadWhatWasWritten) {
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net"), s.path()).code, 0);
  const Outcome json = run(program("atc") + " --mode=1 --om=net.om --json=net.json", s.path());
  EXPECT_EQ(json.code, 0) << json.out;
  EXPECT_NE(slurp(s / "net.json").find("\"atc_cmdline\""), std::string::npos);
  const Outcome info = run(program("atc") + " --mode=6 --om=net.om", s.path());
  EXPECT_EQ(info.code, 0) << info.out;
  for (const char* part : {"============ Display Model Info start ============", "soc_version[Ascend910B3]",
                           "image", "probabilities"})
    EXPECT_NE(info.out.find(part), std::string::npos) << info.out;
}

TEST(Atc, SelectsOutputsAndTheirTypes) {
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net --out_nodes=\"conv1:0;relu2:0\" --output_type=FP16"), s.path()).code, 0);
  const Outcome o =
      run(program("omrun") + " --model net.om --input " + model("lenet5_digit.npy") + " --json", s.path());
  ASSERT_EQ(o.code, 0) << o.out;
  const std::size_t first = o.out.find("\"c1\""), second = o.out.find("\"r2\"");
  EXPECT_NE(first, std::string::npos) << o.out;
  EXPECT_NE(second, std::string::npos) << o.out;
  EXPECT_NE(o.out.find("\"dtype\": \"f16\""), std::string::npos) << o.out;

  const Outcome unknown = run(lenet("--output=other --out_nodes=conv7:0"), s.path());
  EXPECT_EQ(unknown.code, 255);
  EXPECT_NE(unknown.out.find("E11017"), std::string::npos) << unknown.out;
  EXPECT_NE(unknown.out.find("conv"), std::string::npos) << unknown.out;
  EXPECT_FALSE(std::filesystem::exists(s / "other.om"));
}

// The layout that users and their runtimes read from the .om is the one of the command line; ATC's default is
// NCHW.
TEST(Atc, InputFormatIsThatOfTheOption) {
  Scratch s;
  const auto format = [&](const std::string& option) {
    EXPECT_EQ(run(lenet("--output=net " + option), s.path()).code, 0);
    const Outcome info = run(program("atc") + " --mode=6 --om=net.om", s.path());
    const std::size_t at = info.out.find("shape[1,1,28,28], format[");
    return at == std::string::npos ? info.out
                                   : info.out.substr(at + 25, info.out.find(']', at + 25) - at - 25);
  };
  EXPECT_EQ(format(""), "NCHW");
  EXPECT_EQ(format("--input_format=NCHW"), "NCHW");
  EXPECT_EQ(format("--input_format=ND"), "ND");
  EXPECT_EQ(format("--input_format=NHWC"), "ND");  // it warns: inputs keep the model's layout
}

TEST(Atc, NarrowsInputs) {
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net --input_fp16_nodes=image"), s.path()).code, 0);
  const Outcome info = run(program("atc") + " --mode=6 --om=net.om", s.path());
  EXPECT_NE(info.out.find("FLOAT16"), std::string::npos) << info.out;
  const Outcome unknown = run(lenet("--output=other --input_fp16_nodes=images"), s.path());
  EXPECT_EQ(unknown.code, 255);
  EXPECT_NE(unknown.out.find("'image'"), std::string::npos) << unknown.out;
}

struct Bad {
  std::string name, arguments, expected;
};

// Each gives one diagnostic, exit code 255, and leaves nothing.
TEST(Atc, BadInputLeavesNothing) {
  const std::string good = slurp(model("lenet5.onnx"));
  const std::vector<Bad> all = {
      {"missing", "--model=no.onnx --output=x", "no.onnx"},
      {"empty", "--model=empty.onnx --output=x", "empty"},
      {"truncated", "--model=cut.onnx --output=x", "E10041"},
      {"text", "--model=text.onnx --output=x", "E10041"},
      {"folder as model", "--model=sub --output=x", "sub"},
      {"file in place of a folder", "--model=" + model("lenet5.onnx") + " --output=text.onnx/x", "text.onnx"},
      {"folder in place of the report", "--model=" + model("lenet5.onnx") + " --output=x --report=sub",
       "sub"},
      {"unwritable report", "--model=" + model("lenet5.onnx") + " --output=x --report=/proc/none/r.json",
       "/proc"},
      {"unwritable statistics", "--model=" + model("lenet5.onnx") + " --output=x --export_compile_stat=1",
       "fusion_result.json"},
      {"bad list of dtypes", "--model=" + model("lenet5.onnx") + " --output=x --keep_dtype=sub", "sub"},
      {"shape of another rank", "--model=" + model("lenet5.onnx") + " --output=x --input_shape=image:1,28",
       "E10049"},
      {"unknown input", "--model=" + model("lenet5.onnx") + " --output=x --input_shape=imag:1,1,28,28",
       "image"},
      {"shape that does not fit",
       "--model=" + model("lenet5.onnx") + " --output=x --input_shape=image:1,3,28,28", "image"},
  };
  for (const Bad& bad : all) {
    Scratch s;
    std::ofstream(s / "empty.onnx").flush();
    std::ofstream(s / "cut.onnx", std::ios::binary) << good.substr(0, good.size() / 2);
    std::ofstream(s / "text.onnx") << "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n";
    std::filesystem::create_directory(s / "sub");
    std::filesystem::create_directory(s / "fusion_result.json");
    const std::size_t before = s.files();
    const Outcome o = run(atc(bad.arguments), s.path());
    EXPECT_EQ(o.code, 255) << bad.name << "\n" << o.out;
    EXPECT_NE(o.out.find("ATC run failed"), std::string::npos) << bad.name << "\n" << o.out;
    EXPECT_NE(o.out.find(bad.expected), std::string::npos) << bad.name << "\n" << o.out;
    EXPECT_EQ(o.out.find("E19999"), std::string::npos) << bad.name << "\n" << o.out;
    EXPECT_EQ(s.files(), before) << bad.name;
  }
}

TEST(Atc, MakesTheFoldersOfItsOutputs) {
  Scratch s;
  const Outcome o = run(lenet("--output=out/deep/net --report=reports/r.json"), s.path());
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_TRUE(std::filesystem::exists(s / "out/deep/net.om"));
  EXPECT_TRUE(std::filesystem::exists(s / "reports/r.json"));
}

TEST(Atc, LogsAtEachLevelInAtcsForm) {
  Scratch s;
  const auto lines = [&](const std::string& level, const std::string& more) {
    return run(lenet("--output=net --log=" + level + more + " >/dev/null"), s.path()).out;
  };
  EXPECT_EQ(lines("null", ""), "");
  EXPECT_EQ(lines("error", ""), "");
  const std::string error = lines("error", " --out_nodes=none:0");
  EXPECT_NE(error.find("[ERROR] GE("), std::string::npos) << error;
  EXPECT_NE(error.find("E11017"), std::string::npos) << error;
  EXPECT_NE(lines("warning", " --atomic_clean_policy=1").find("[WARNING] GE("), std::string::npos);
  const std::string info = lines("info", ""), debug = lines("debug", "");
  EXPECT_NE(info.find("[INFO] GE("), std::string::npos) << info;
  EXPECT_NE(info.find("lenet5.onnx"), std::string::npos) << info;
  EXPECT_EQ(info.find("[DEBUG]"), std::string::npos) << info;
  EXPECT_NE(debug.find("[DEBUG] GE("), std::string::npos) << debug;
  EXPECT_NE(debug.find("pass constant-folding"), std::string::npos) << debug;
}

TEST(Atc, TimingIsATableOrOneJsonObject) {
  Scratch s;
  EXPECT_NE(run(lenet("--output=net --timing"), s.path()).out.find("\ntotal "), std::string::npos);
  const std::string json = run(lenet("--output=net --timing=json"), s.path()).out;
  EXPECT_NE(json.find("\n{\"passes\":[{\"name\":\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"total_ms\":"), std::string::npos) << json;
  EXPECT_EQ(json.find("\ntotal "), std::string::npos) << json;
}

TEST(Atc, FullDiskLeavesNothing) {
  Scratch s;
  const Outcome o = run("ulimit -f 8; " + lenet("--output=net"), s.path());
  EXPECT_EQ(o.code, 255) << o.out;
  EXPECT_NE(o.out.find("E13004"), std::string::npos) << o.out;
  EXPECT_EQ(s.files(), 0U);
  // Reports of a model that is not there go too.
  const Outcome reports = run("ulimit -f 24; " + program("atc") +
                                  " --framework=5 --soc_version=Ascend910B3 --model=" + model("lenet5.onnx") +
                                  " --output=net --export_compile_stat=1 --report=r.json",
                              s.path());
  EXPECT_EQ(reports.code, 255) << reports.out;
  EXPECT_EQ(s.files(), 0U);
}

TEST(Atc, NothingIsWrittenWhereTheOutputCannotBe) {
  Scratch s;
  std::ofstream(s / "file").flush();
  const Outcome o =
      run(program("atc") + " --framework=5 --soc_version=Ascend910B3 --model=" + model("lenet5.onnx") +
              " --output=file/net --export_compile_stat=1",
          s.path());
  EXPECT_EQ(o.code, 255) << o.out;
  EXPECT_EQ(s.files(), 1U);
}

TEST(Atc, ANewerOpsetIsWarnedOf) {
  Scratch s;
  std::string bytes = slurp(model("lenet5.onnx"));
  ASSERT_EQ(bytes.back(), 13);  // the file ends in its opset_import
  bytes.back() = 99;
  std::ofstream(s / "newer.onnx", std::ios::binary) << bytes;
  const Outcome o = run(atc("--model=newer.onnx --output=net"), s.path());
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_NE(o.out.find("opset 99"), std::string::npos) << o.out;
  EXPECT_EQ(run(lenet("--output=net"), s.path()).out.find("opset"), std::string::npos);
}

TEST(Atc, OtherFrameworksAreSentToOnnx) {
  Scratch s;
  for (const char* f : {"0", "1", "3"}) {
    const Outcome o = run(program("atc") + " --model=" + model("lenet5.onnx") + " --framework=" + f +
                              " --soc_version=Ascend910B3 --output=x",
                          s.path());
    EXPECT_EQ(o.code, 255);
    EXPECT_NE(o.out.find("ONNX"), std::string::npos) << o.out;
  }
}

TEST(Atc, ReportTellsWhatFusionDid) {
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net --report=r.json"), s.path()).code, 0);
  const std::string report = slurp(s / "r.json");
  for (const char* key : {"\"formed_by\"", "\"epilogue-fusion\"", "\"saved\"", "\"bytes_written\"",
                          "\"near_misses\"", "ATbeMatmulElemwiseFusionPass", "it reduces along an axis",
                          "\"size\"", "\"WEIGHTS_DATA\"", "\"largest_weights\""})
    EXPECT_NE(report.find(key), std::string::npos) << key << report;
  // The parts of the file are all of it.
  const std::string size = "\"file_bytes\": " + std::to_string(std::filesystem::file_size(s / "net.om"));
  EXPECT_NE(report.find(size), std::string::npos) << size;
}

TEST(Atc, ReportAsAPage) {
  Scratch s;
  ASSERT_EQ(run(lenet("--output=net --report=r.html"), s.path()).code, 0);
  const std::string page = slurp(s / "r.html");
  EXPECT_EQ(page.rfind("<!DOCTYPE html>", 0), 0U);
  for (const char* part : {"Near misses", "classifier", "epilogue-fusion", "WEIGHTS_DATA", "</html>"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  for (const char* outside : {"<script", "http://", "https://", "src="})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

// Each option changes what it says, and the report tells.
TEST(Atc, PrecisionOfSingleNodes) {
  Scratch s;
  std::ofstream(s / "keep.cfg") << "# a product and a type\nclassifier\nOpType::MaxPoolV3\nnone\n";
  std::ofstream(s / "custom.cfg") << "conv1::InputDtype:float16,OutputDtype:float16\n";
  const Outcome kept = run(lenet("--output=kept --report=kept.json --keep_dtype=keep.cfg"), s.path());
  EXPECT_EQ(kept.code, 0) << kept.out;
  EXPECT_NE(kept.out.find("W11002"), std::string::npos) << kept.out;
  EXPECT_NE(kept.out.find("--keep_dtype: not in the model: none."), std::string::npos) << kept.out;
  EXPECT_NE(slurp(s / "kept.json").find("--keep_dtype: its operands keep their type"), std::string::npos);
  const Outcome custom = run(
      lenet("--output=custom --report=custom.json --precision_mode_v2=origin --customize_dtypes=custom.cfg"),
      s.path());
  EXPECT_EQ(custom.code, 0) << custom.out;
  EXPECT_NE(slurp(s / "custom.json").find("--customize_dtypes: its operands are narrowed"),
            std::string::npos);
  for (const char* net : {"kept.om", "custom.om"}) {
    const Outcome o =
        run(program("omrun") + " --model " + net + " --input " + model("lenet5_digit.npy"), s.path());
    EXPECT_EQ(o.code, 0) << o.out;
  }
}

TEST(Atc, LevelsAndSwitchesTurnFusionOff) {
  Scratch s;
  const auto tasks = [&](const std::string& options) {
    const Outcome o = run(lenet("--output=net " + options) + " && " + program("omrun") +
                              " --model net.om --json --input " + model("lenet5_digit.npy"),
                          s.path());
    EXPECT_EQ(o.code, 0) << o.out;
    const std::size_t at = o.out.find("\"ai_core\":");
    return at == std::string::npos ? -1 : std::atoi(o.out.c_str() + o.out.rfind("\"ai_core\":") + 10);
  };
  const int all = tasks(""), none = tasks("--oo_level=O1");
  EXPECT_GT(none, all);
  EXPECT_LT(tasks("--oo_level=O1 --optimization_switch=\"vector-fusion:on;TbeConv2DElemwiseFusionPass:on\""),
            none);
  EXPECT_GT(tasks("--optimization_switch=TbeConv2DElemwiseFusionPass:off"), all);
}

// In the working directory, or below $ASCEND_WORK_PATH; an old one goes with the compilation that follows.
TEST(Atc, FusionResultIsWhereAtcWritesIt) {
  Scratch s;
  const std::string command =
      program("atc") + " --framework=5 --soc_version=Ascend910B3 --output=net --model=";
  ASSERT_EQ(run(command + model("lenet5.onnx"), s.path()).code, 0);
  EXPECT_EQ(slurp(s / "fusion_result.json").rfind("{\n    \"session_and_graph_id_0_0\": {", 0), 0U);
  EXPECT_EQ(run(command + "none.onnx", s.path()).code, 255);
  EXPECT_TRUE(std::filesystem::exists(s / "fusion_result.json")) << "nothing was compiled";
  std::ofstream(s / "text.onnx") << "no model";
  EXPECT_EQ(run(command + "text.onnx", s.path()).code, 255);
  EXPECT_FALSE(std::filesystem::exists(s / "fusion_result.json")) << "it is that of another model";
  ASSERT_EQ(run("ASCEND_WORK_PATH=work " + command + model("lenet5.onnx"), s.path()).code, 0);
  EXPECT_FALSE(std::filesystem::exists(s / "fusion_result.json"));
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(s / "work/FE"))
    found += entry.path().filename() == "fusion_result.json" ? 1 : 0;
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace atc::cli
