#include "driver/options.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "atc/base/file.h"
#include "atc/base/strings.h"
#include "driver/fusion_switch.h"
#include "driver/option_errors.h"
#include "driver/option_values.h"
#include "driver/path_checks.h"
#include "driver/support.h"

namespace atc::driver {
namespace {

constexpr std::int64_t kOnnx = 5;

Diagnostic warning(std::string message) {
  Diagnostic diagnostic;
  diagnostic.code = "W10001";
  diagnostic.message = std::move(message);
  return diagnostic;
}

/// The names of --precision_mode, then those of --precision_mode_v2, that passes know. Others are refused.
constexpr std::array<std::pair<std::string_view, passes::Precision>, 13> kPrecisions = {{
    {"force_fp16", passes::Precision::Fp16},
    {"force_fp32", passes::Precision::Fp32},
    {"cube_fp16in_fp32out", passes::Precision::Fp32},
    {"allow_fp32_to_fp16", passes::Precision::AllowFp32ToFp16},
    {"must_keep_origin_dtype", passes::Precision::Origin},
    {"allow_mix_precision", passes::Precision::MixedFloat16},
    {"allow_mix_precision_fp16", passes::Precision::MixedFloat16},
    {"allow_mix_precision_bf16", passes::Precision::MixedBfloat16},
    {"allow_fp32_to_bf16", passes::Precision::AllowFp32ToBf16},
    {"fp16", passes::Precision::Fp16},
    {"origin", passes::Precision::Origin},
    {"mixed_float16", passes::Precision::MixedFloat16},
    {"mixed_bfloat16", passes::Precision::MixedBfloat16},
}};

bool is_mixed(std::string_view precision) {
  return precision.starts_with("mixed_") || precision.starts_with("allow_mix_");
}

/// Fills CompileOptions step by step, each step one of ATC's checks; run() has their order.
class Reader {
 public:
  Reader(const CommandLine& line, OptionChecks checks) : line_(line), checks_(checks) {}

  Status run() {
    ATC_ASSIGN(const std::int64_t mode, line_.integer("mode"));
    ATC_TRY(read_log());
    switch (mode) {
      case 0:
        return compile();
      case 1:
        return om_to_json();
      case 6:
        return info();
      case 3:
      case 5:
      case 7:
      case 30:
        return Status::error("E10055",
                             "--mode=" + std::to_string(mode) + " is not supported in this version.")
            .solution(
                "Use --mode=0 to compile, --mode=1 to print an .om as JSON or --mode=6 to describe it.");
      default:
        return invalid_value("E10001", "mode", line_.text("mode"), "it must be one of 0, 1, 6");
    }
  }

  CompileOptions take() && { return std::move(out_); }

 private:
  Status read_log() {
    const auto level = log_level_from_name(line_.text("log"));
    if (!level)
      return invalid_value("E10010", "log", line_.text("log"),
                           "it must be one of debug, info, warning, error, null");
    out_.log = *level;
    return {};
  }

  Status om_to_json() {
    out_.mode = Mode::OmToJson;
    if (line_.given("framework"))
      return Status::error("E10055",
                           "--mode=1 with --framework, which prints a source model, is not supported in "
                           "this version.")
          .solution("Leave --framework out to print an .om.");
    for (const char* name : {"om", "json"})
      if (!line_.given(name)) return missing_option(name);
    ATC_TRY(read_om());
    ATC_TRY(check_output_path("json", line_.text("json")));
    out_.json = line_.text("json");
    return checks_.files ? check_output_file("json", out_.json) : Status();
  }

  Status info() {
    out_.mode = Mode::Info;
    if (line_.given("framework"))
      return Status::error("E10057", "--framework cannot be used with --mode=6, which describes an .om.");
    if (!line_.given("om")) return missing_option("om");
    return read_om();
  }

  Status read_om() {
    out_.om = line_.text("om");
    return checks_.files ? check_input_file("om", out_.om) : Status();
  }

  Status compile() {
    out_.mode = Mode::Compile;
    if (line_.given("auto_tune_mode"))
      return invalid_value("E10001", "auto_tune_mode", line_.text("auto_tune_mode"),
                           "the option was withdrawn, the aoe command tunes");
    ATC_TRY(check_options({"deterministic", "deterministic_level"}));
    ATC_TRY(read_framework());
    ATC_TRY(read_input_format());
    ATC_TRY(read_required());
    ATC_TRY(check_options({"disable_reuse_memory"}));
    out_.reuse_memory = line_.text("disable_reuse_memory") != "1";
    ATC_TRY(check_implementation_mode());
    ATC_TRY(read_precision());
    ATC_TRY(read_shapes());
    ATC_TRY(read_gears());
    ATC_TRY(read_names());
    for (const OptionSpec& spec : option_table()) ATC_TRY(check_value(line_, spec));
    ATC_TRY(check_pairs());
    ATC_TRY(read_extensions());
    if (checks_.supported) ATC_TRY(check_supported(line_, out_.input_shapes));
    if (checks_.files) ATC_TRY(check_files());
    ATC_TRY(read_switches());
    ATC_TRY(read_node_precisions());
    out_.display_model_info = line_.text("display_model_info") == "1";
    out_.export_compile_stat = line_.text("export_compile_stat").front() - '0';
    ATC_TRY(check_report());
    for (Diagnostic& w : ignored_options(line_)) out_.warnings.push_back(std::move(w));
    out_.command_line = stored_command_line();
    return {};
  }

  Status check_options(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) ATC_TRY(check_value(line_, *find_option(name)));
    return {};
  }

  Status read_framework() {
    if (!line_.given("framework"))
      return Status::error("E10007", "Parameter --framework is required, it must be 5 (ONNX).");
    ATC_ASSIGN(const std::int64_t framework, line_.integer("framework"));
    if (framework == 0 || framework == 1 || framework == 3) {
      const std::string source = framework == 0 ? "Caffe" : framework == 1 ? "MindSpore" : "TensorFlow";
      return Status::error("E10055", "--framework=" + std::to_string(framework) + " (" + source +
                                         ") is not supported, only ONNX models are compiled.")
          .solution("Export the model to ONNX and use --framework=5.");
    }
    if (framework != kOnnx)
      return invalid_value("E10001", "framework", line_.text("framework"), "it must be 5 (ONNX)");
    if (!line_.given("weight")) return {};
    if (checks_.files) ATC_TRY(check_input_file("weight", line_.text("weight")));
    out_.warnings.push_back(
        warning("--weight has no effect: an ONNX model has its weights in it or beside it."));
    return {};
  }

  Status read_input_format() {
    ATC_TRY(check_options({"input_format"}));
    out_.input_format = line_.text("input_format");
    if (out_.input_format == "NHWC" || out_.input_format == "NDHWC")
      out_.warnings.push_back(warning("--input_format=" + out_.input_format +
                                      " has no effect: inputs of an ONNX model keep the model's layout."));
    return {};
  }

  Status read_required() {
    for (const char* name : {"soc_version", "output", "model"})
      if (!line_.given(name)) return missing_option(name);
    ATC_ASSIGN(out_.chip, soc::find_chip(line_.text("soc_version")));
    out_.model = line_.text("model");
    out_.output = line_.text("output");
    if (checks_.files) ATC_TRY(check_input_file("model", out_.model));
    ATC_TRY(check_output_path("output", out_.om_output().string()));
    ATC_TRY(check_output_path("output", line_.text("output")));
    return checks_.files ? check_output_file("output", out_.om_output()) : Status();
  }

  Status check_implementation_mode() {
    ATC_TRY(check_options({"op_select_implmode"}));
    if (line_.given("optypelist_for_implmode") && !line_.given("op_select_implmode"))
      return invalid_value("E10001", "optypelist_for_implmode", line_.text("optypelist_for_implmode"),
                           "it needs --op_select_implmode");
    return {};
  }

  Status read_precision() {
    if (line_.given("precision_mode") && line_.given("precision_mode_v2"))
      return Status::error("E10056", "--precision_mode and --precision_mode_v2 cannot be set together.")
          .solution("Keep --precision_mode_v2.");
    ATC_TRY(check_options({"precision_mode", "precision_mode_v2"}));
    out_.precision_option = line_.given("precision_mode") ? "precision_mode" : "precision_mode_v2";
    const std::string_view name = line_.text(out_.precision_option);
    out_.precision_value = name;
    for (const auto& [known, precision] : kPrecisions)
      if (known == name) out_.precision = precision;
    if (line_.given("modify_mixlist") && !is_mixed(name))
      return invalid_value("E10001", "modify_mixlist", line_.text("modify_mixlist"),
                           "it needs a mixed precision, such as --precision_mode_v2=mixed_float16");
    return {};
  }

  /// The file of an option; nullopt when it is not given.
  StatusOr<std::optional<std::string>> text_of(const char* option) const {
    const std::string file(line_.text(option));
    if (file.empty() || !checks_.files) return std::optional<std::string>();
    ATC_ASSIGN(const Bytes bytes, map_file(file));
    return std::optional(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  /// In ATC's order: level, then what single options say of passes.
  Status read_switches() {
    ATC_ASSIGN(const auto text, text_of("fusion_switch_file"));
    if (text) {
      ATC_ASSIGN(out_.switches, parse_fusion_switch(*text, std::string(line_.text("fusion_switch_file"))));
    }
    if (line_.text("oo_level") == "O1") {
      out_.switches.basic_only = true;
      std::erase_if(out_.switches.passes, [](const auto& entry) { return entry.second; });
    }
    if (line_.text("oo_constant_folding") == "false") out_.switches.passes["constant-folding"] = false;
    out_.keeps_dead_code = line_.text("oo_dead_code_elimination") == "false";
    ATC_ASSIGN(const passes::Switches more, parse_optimization_switch(line_.text("optimization_switch")));
    out_.switches.override_with(more);
    for (const std::string& name : always_on(out_.switches))
      out_.warnings.push_back(warning("pass " + name + " cannot be turned off: results depend on it."));
    return {};
  }

  /// What single nodes are asked for; what is named more closely comes later and wins.
  Status read_node_precisions() {
    auto& out = out_.node_precisions;
    const auto append = [&](std::vector<PrecisionEntry> entries) {
      out.insert(out.end(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
    };
    if (line_.given("op_select_implmode")) {
      ATC_ASSIGN(auto entries, parse_implementation_mode(line_.text("op_select_implmode"),
                                                         line_.text("optypelist_for_implmode")));
      append(std::move(entries));
    }
    const DType narrow = out_.precision == passes::Precision::MixedBfloat16 ||
                                 out_.precision == passes::Precision::AllowFp32ToBf16
                             ? DType::BF16
                             : DType::F16;
    ATC_ASSIGN(const auto mixlist, text_of("modify_mixlist"));
    ATC_ASSIGN(const auto modes, text_of("op_precision_mode"));
    ATC_ASSIGN(const auto kept, text_of("keep_dtype"));
    ATC_ASSIGN(const auto customized, text_of("customize_dtypes"));
    const auto file = [&](const char* option) { return std::string(line_.text(option)); };
    if (mixlist) {
      ATC_ASSIGN(auto entries, parse_modify_mixlist(*mixlist, file("modify_mixlist")));
      append(std::move(entries));
    }
    if (modes) {
      ATC_ASSIGN(auto entries, parse_op_precision_mode(*modes, file("op_precision_mode")));
      append(std::move(entries));
    }
    if (kept) {
      ATC_ASSIGN(auto entries, parse_keep_dtype(*kept, file("keep_dtype")));
      append(std::move(entries));
    }
    if (customized) {
      ATC_ASSIGN(auto entries, parse_customize_dtypes(*customized, file("customize_dtypes"), narrow));
      append(std::move(entries));
    }
    return {};
  }

  Status read_shapes() {
    if (line_.given("input_shape")) {
      ATC_ASSIGN(out_.input_shapes, parse_input_shape(line_.text("input_shape")));
    }
    if (line_.given("input_shape_range"))
      ATC_TRY(parse_input_shape_range(line_.text("input_shape_range")).status());
    return {};
  }

  Status read_gears() {
    std::vector<std::string> given;
    for (const GearKind kind : {GearKind::Batch, GearKind::Image, GearKind::Dims})
      if (line_.given(option_of(kind))) {
        given.push_back("--" + std::string(option_of(kind)));
        out_.gears.kind = kind;
      }
    if (!given.empty() && line_.given("input_shape_range")) given.emplace_back("--input_shape_range");
    if (given.size() > 1)
      return Status::error("E10009", given[0] + " and " + given[1] + " exclude each other.");
    if (given.empty()) return {};
    ATC_ASSIGN(out_.gears, parse_gears(out_.gears.kind, line_.text(option_of(out_.gears.kind))));
    ATC_TRY(check_gears(out_.gears, out_.input_shapes, out_.input_format));
    if (out_.gears.kind == GearKind::Dims && line_.given("insert_op_conf"))
      return invalid_value("E10001", "insert_op_conf", line_.text("insert_op_conf"),
                           "it cannot be used with --dynamic_dims");
    return {};
  }

  Status read_names() {
    if (line_.given("out_nodes")) {
      ATC_ASSIGN(out_.out_nodes, parse_out_nodes(line_.text("out_nodes")));
    }
    if (line_.given("output_type")) {
      ATC_ASSIGN(out_.output_types, parse_output_type(line_.text("output_type"), !out_.out_nodes.empty()));
    }
    if (line_.given("input_fp16_nodes")) {
      ATC_ASSIGN(out_.input_fp16_nodes, parse_names("input_fp16_nodes", line_.text("input_fp16_nodes")));
    }
    return {};
  }

  Status check_pairs() {
    if (line_.text("enable_compress_weight") == "true" && line_.given("compress_weight_conf"))
      return Status::error("E10047",
                           "--enable_compress_weight and --compress_weight_conf exclude each other.");
    if (line_.text("enable_single_stream") == "true" && line_.given("multi_stream_parallel_mode"))
      return Status::error("E10047",
                           "--enable_single_stream and --multi_stream_parallel_mode exclude each other.");
    return {};
  }

  Status read_extensions() {
    if (line_.given("custom_op")) {
      ATC_ASSIGN(out_.custom_ops, parse_custom_op(line_.text("custom_op")));
    }
    out_.embed_custom_ops = line_.text("custom_op_embed") != "0";
    for (const char* bank : {"mdl_bank_path", "op_bank_path"})
      if (line_.given(bank)) out_.banks.push_back({bank, line_.text(bank)});
    out_.print_ir_after = line_.text("print-ir-after");
    out_.dump_dir = line_.text("dump-dir");
    out_.report = line_.text("report");
    if (const std::string_view timing = line_.text("timing"); timing == "json")
      out_.timing = Timing::Json;
    else if (timing == "true" || timing == "text")
      out_.timing = Timing::Text;
    else if (!timing.empty())
      return invalid_value("E10001", "timing", timing, "it must be text or json");
    ATC_ASSIGN(const std::int64_t threads, line_.integer("threads"));
    out_.threads = static_cast<int>(threads);
    if (line_.given("report")) {
      ATC_TRY(check_output_path("report", line_.text("report")));
      if (checks_.files) ATC_TRY(check_output_file("report", out_.report));
    }
    return {};
  }

  /// A report is none of the other files of the run.
  Status check_report() {
    if (!line_.given("report")) return {};
    const std::string_view given = line_.text("report");
    if (is_same_file(out_.report, out_.om_output()))
      return invalid_value("E10001", "report", given, "it is the .om that --output names");
    if (is_same_file(out_.report, out_.model))
      return invalid_value("E10001", "report", given, "it is the file of --model");
    if (out_.export_compile_stat != 0 && is_same_file(out_.report, fusion_result_path()))
      return invalid_value(
          "E10001", "report", given,
          "it is where the counts of the fusions are written, unless --export_compile_stat=0");
    return {};
  }

  Status check_files() {
    for (const OptionSpec& spec : option_table())
      if (spec.kind == OptionKind::InputFile && spec.name != "om" && line_.given(spec.name))
        ATC_TRY(check_input_file(spec.name, line_.text(spec.name)));
    return {};
  }

  std::string custom_ops_text() const {
    std::vector<std::string> parts;
    for (const CustomOpOption& o : out_.custom_ops)
      parts.push_back((o.type.empty() ? "" : o.type + ":") +
                      std::filesystem::path(o.path).filename().string());
    return join(parts, ",");
  }

  std::string stored_command_line() const {
    std::string text = "atc";
    for (const auto& [name, value] : line_.values()) {
      const OptionSpec& spec = *find_option(name);
      const bool without_influence = spec.group == OptionGroup::Extension ||
                                     spec.group == OptionGroup::Debug || spec.group == OptionGroup::Output;
      if (value.empty() || (without_influence && name != "output_type" && !name.starts_with("custom_op")))
        continue;
      std::string shown = value;
      if (spec.kind == OptionKind::InputFile || name.ends_with("_bank_path"))
        shown = std::filesystem::path(value).filename().string();
      if (name == "custom_op") shown = custom_ops_text();
      const bool quoted = shown.find_first_of("; \t\n") != std::string::npos;
      text += " --" + std::string(spec.name) + "=" + (quoted ? "\"" + shown + "\"" : shown);
    }
    return text;
  }

  const CommandLine& line_;
  OptionChecks checks_;
  CompileOptions out_;
};

}  // namespace

std::filesystem::path CompileOptions::om_output() const {
  std::filesystem::path path = output;
  path += ".om";
  return path;
}

StatusOr<CompileOptions> read_options(const CommandLine& line, OptionChecks checks) {
  Reader reader(line, checks);
  ATC_TRY(reader.run());
  return std::move(reader).take();
}

}  // namespace atc::driver
