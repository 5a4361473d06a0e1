#include "driver/msopgen.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>

#include "driver/opp_build.h"
#include "driver/opp_generate.h"
#include "driver/tool_command.h"

namespace atc::driver {
namespace {

struct Options {
  std::string input, framework = "onnx", unit, language = "cpp", out = ".", op;
  int mode = 0;
  std::string project, cann, compiler = "g++";
  bool keep = false;
};

/// "ai_core-Ascend910B" or "ai_core-ascend910b3" to "ascend910b".
StatusOr<std::string> unit_of(const std::string& text) {
  const std::size_t dash = text.find('-');
  const std::string core = text.substr(0, dash);
  std::string chip = dash == std::string::npos ? "" : text.substr(dash + 1);
  std::transform(chip.begin(), chip.end(), chip.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool known_core = core == "ai_core" || core == "aicore" || core == "vector_core";
  for (const char* known :
       {"ascend910_93", "ascend910b", "ascend910", "ascend310p", "ascend310b", "ascend310"})
    if (known_core && chip.starts_with(known)) return std::string(known);
  return Status::error("E10001",
                       "Value " + text +
                           " for parameter -c is invalid. Reason: it must be ai_core-<chip>, such as "
                           "ai_core-Ascend910B");
}

StatusOr<int> generate(const Options& o) {
  if (o.framework != "onnx")
    return Status::error("E10055", "-f " + o.framework + " is not supported: plugins are made for onnx");
  if (o.language != "cpp") return Status::error("E10055", "-lan " + o.language + " is not supported: cpp is");
  ATC_ASSIGN(const std::string unit, unit_of(o.unit));
  ATC_ASSIGN(std::vector<OppDescription> operators, read_opp_json(o.input));
  if (!o.op.empty()) {
    std::erase_if(operators, [&](const OppDescription& d) { return d.type != o.op; });
    if (operators.empty())
      return Status::error("E10001", "Value " + o.op + " for parameter -op is invalid. Reason: " + o.input +
                                         " has no such operator");
  }
  ATC_TRY(write_opp_files(opp_files(operators, unit, o.mode == 1), o.out));
  for (const OppDescription& d : operators)
    std::printf("generated %s in %s\n", d.type.c_str(), o.out.c_str());
  return 0;
}

StatusOr<int> compile(const Options& o) {
  OppBuildOptions build;
  build.project = o.project;
  build.compiler = o.compiler;
  build.keep = o.keep;
  ATC_ASSIGN(const std::filesystem::path library, build_opp(build));
  std::printf("%s\n", library.c_str());
  return 0;
}

}  // namespace

int msopgen_main(int argc, char** argv) {
  CLI::App app("Makes and builds projects of custom operators in Ascend C.", "msopgen");
  app.require_subcommand(1);
  Options o;
  CLI::App* gen = app.add_subcommand("gen", "Makes a project, or adds an operator to one");
  gen->add_option("-i,--input", o.input, "JSON that describes the operators")->required();
  gen->add_option("-f,--framework", o.framework, "onnx")->capture_default_str();
  gen->add_option("-c,--compute_unit", o.unit, "ai_core-<chip>, such as ai_core-Ascend910B")->required();
  gen->add_option("--lan", o.language, "cpp")->capture_default_str();
  gen->add_option("--out", o.out, "Folder of the project")->capture_default_str();
  gen->add_option("-m,--mode", o.mode, "0: a new project, 1: add to an existing one")
      ->check(CLI::Range(0, 1));
  gen->add_option("--op", o.op, "Of several operators in the JSON, this one");
  CLI::App* build =
      app.add_subcommand("compile", "Builds a project: build_out/lib<project>.so for atc --custom_op");
  build->add_option("-i,--input", o.project, "Folder of the project")->required();
  build->add_option("-c,--cann", o.cann, "Accepted and not needed: this program has the headers");
  build->add_option("--compiler", o.compiler, "C++ compiler")->capture_default_str();
  build->add_flag("--keep", o.keep, "Keep build_out/objects");
  // The options of several letters have one dash, as users write them: -lan cpp -out DIR.
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const bool longer = a.starts_with("-lan") || a.starts_with("-out") || a == "-op" || a.starts_with("-op=");
    arguments.push_back(longer ? "-" + a : a);
  }
  std::vector<char*> args = {argv[0]};
  for (std::string& a : arguments) args.push_back(a.data());
  return run_tool(app, static_cast<int>(args.size()), args.data(), 1,
                  [&]() -> StatusOr<int> { return gen->parsed() ? generate(o) : compile(o); });
}

}  // namespace atc::driver
