#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "atc/base/dtype.h"
#include "atc/base/status.h"
#include "driver/command_line.h"
#include "driver/custom_ops.h"
#include "driver/gears.h"
#include "driver/input_shape.h"
#include "driver/log.h"
#include "driver/precision_files.h"
#include "passes/pass.h"
#include "soc/chip.h"

namespace atc::driver {

enum class Mode : std::uint8_t { Compile = 0, OmToJson = 1, Info = 6 };

enum class Timing : std::uint8_t { None, Text, Json };

/// An entry of --out_nodes: output `index` of a source node, or, without index, a graph output or tensor
/// name. `text` is the whole entry, which may be a tensor's name that ends in ":0".
struct OutNode {
  std::string text;
  std::string name;
  std::optional<int> index;
};

/// An entry of --output_type; without a node it holds for every output.
struct OutputType {
  std::string node;
  int index = 0;
  DType dtype = DType::Undefined;
};

/// Everything that a command line asks for, checked.
struct CompileOptions {
  Mode mode = Mode::Compile;
  std::filesystem::path model;
  std::filesystem::path om;      ///< input of modes OmToJson and Info
  std::filesystem::path json;    ///< output of mode OmToJson
  std::filesystem::path output;  ///< without the .om that is appended
  const soc::Chip* chip = nullptr;
  passes::Precision precision = passes::Precision::Fp16;
  std::string precision_option = "precision_mode_v2";  ///< which option it came from
  std::string precision_value = "fp16";                ///< and as what
  std::string input_format = "NCHW";
  std::vector<InputShape> input_shapes;
  Gears gears;
  std::vector<OutNode> out_nodes;
  std::vector<std::string> input_fp16_nodes;
  passes::Switches switches;
  bool keeps_dead_code = false;                 ///< --oo_dead_code_elimination=false
  std::vector<PrecisionEntry> node_precisions;  ///< by name and type, later ones win
  std::vector<OutputType> output_types;
  bool display_model_info = false;
  bool reuse_memory = true;  ///< not --disable_reuse_memory=1
  /// 0: fusion_result.json is not written.
  int export_compile_stat = 1;
  LogLevel log = LogLevel::Null;

  /// A folder with a bank of tuned tiles, and the option that named it; later ones win.
  struct Bank {
    std::string option;
    std::filesystem::path folder;
  };
  std::vector<Bank> banks;
  bool tune = false;  ///< aoe: tasks that are not in the bank are tuned, and the last of `banks` is written

  std::vector<CustomOpOption> custom_ops;
  bool embed_custom_ops = true;

  std::string print_ir_after;  ///< pass name, "all", "changed" or ""
  std::filesystem::path dump_dir;
  Timing timing = Timing::None;
  std::filesystem::path report;
  int threads = 0;  ///< 0: one for each CPU

  /// The command line as it is stored in the .om: "atc --model=x.onnx ..." by option name, paths cut to the
  /// file's name and options without influence on the result left out, so that equal work gives equal bytes.
  std::string command_line;
  /// To be printed after the run.
  std::vector<Diagnostic> warnings;

  /// output + ".om"
  std::filesystem::path om_output() const;
};

/// What read_options looks at beside the text of the options.
struct OptionChecks {
  bool files = true;      ///< input files exist, output can be created
  bool supported = true;  ///< refuse what has no effect yet (E10055)
};

/// Interprets and checks a command line in ATC's order; the first error is returned. Not for --help, --list
/// and
/// --explain.
StatusOr<CompileOptions> read_options(const CommandLine& line, OptionChecks checks = {});

}  // namespace atc::driver
