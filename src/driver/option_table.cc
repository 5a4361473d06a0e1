#include "driver/option_table.h"

#include <array>

namespace atc::driver {
namespace {

using enum OptionKind;
using enum Support;
using G = OptionGroup;

constexpr std::string_view kGears = "Compile one static .om for each shape, with numbers in --input_shape.";
constexpr std::string_view kTuning = "it tunes speed only";

// clang-format off
constexpr std::array kOptions = std::to_array<OptionSpec>({
  {"help", G::General, Flag, "", "", Full, "Print this text; also --h."},
  {"h", G::General, Flag},
  {"mode", G::General, Integer, "0", "", Full, "0: compile to .om; 1: .om to JSON; 6: print information on an .om."},

  {"framework", G::Input, Integer, "-1", "", Full, "Source of the model: 5 is ONNX."},
  {"model", G::Input, InputFile, "", "", Full, "The ONNX file."},
  {"weight", G::Input, InputFile, "", "", Full, "Caffe weights; not used with ONNX."},
  {"om", G::Input, InputFile, "", "", Full, "The .om file, for modes 1 and 6."},
  {"input_format", G::Input, Choice, "NCHW", "NCHW|NCDHW|ND|NHWC|NDHWC", Full, "Layout of the inputs: NCHW, NCDHW or ND."},
  {"input_shape", G::Input, Text, "", "", Full, "Shapes of inputs: \"name1:n1,c1,h1,w1;name2:n2,c2\"; a scalar is \"name:\"."},
  {"input_shape_range", G::Input, Text, "", "", Refused, "Deprecated; ranges of dims: \"name:[1~8,3,-1]\".", kGears},
  {"input_hint_shape", G::Input, Text, "", "", Refused, "Typical shapes of dynamic inputs: \"index:[d,...]\".", kGears},
  {"dynamic_batch_size", G::Input, Text, "", "", Refused, "Batch gears: \"1,2,4,8\".", kGears},
  {"dynamic_image_size", G::Input, Text, "", "", Refused, "Image gears: \"h1,w1;h2,w2\".", kGears},
  {"dynamic_dims", G::Input, Text, "", "", Refused, "Gears of any dims: \"a1,b1;a2,b2\".", kGears},
  {"singleop", G::Input, InputFile, "", "", Refused, "JSON list of single operators to compile.", "Put the operator into an ONNX model of one node."},
  {"raw_ge_options", G::Input, InputFile, "", "", Refused, "JSON file of compile options.", "Give the options on the command line."},
  {"raw_ge_options_ignore_unsupported", G::Input, Flag, "false", "", Ignored, "Skip unknown entries of --raw_ge_options.", "there is no --raw_ge_options"},

  {"output", G::Output, Text, "", "", Full, "Path of the result, .om is appended."},
  {"output_type", G::Output, Text, "", "", Full, "FP32, FP16, UINT8, INT8, ... for all outputs, or \"node:0:FP16;...\"."},
  {"check_report", G::Output, Text, "check_result.json", "", Ignored, "Path of the pre-check report.", "diagnostics are printed"},
  {"json", G::Output, Text, "", "", Full, "Path of the JSON file, for mode 1."},
  {"host_env_os", G::Output, Text, "linux", "", Ignored, "Operating system that loads the .om.", "an .om runs on any host"},
  {"host_env_cpu", G::Output, Text, "", "", Ignored, "CPU that loads the .om.", "an .om runs on any host"},

  {"soc_version", G::Target, Text, "", "", Full, "Chip, for example Ascend310P3; --list=socs prints all."},
  {"core_type", G::Target, Choice, "AiCore", "AiCore|VectorCore", Refused, "Kind of cores to use.", "Leave the option out."},
  {"aicore_num", G::Target, Text, "", "", Refused, "Cores to use: \"24|48\", \"10|\" or \"10\".", "Leave the option out: all cores are used."},
  {"virtual_type", G::Target, Switch, "0", "", Refused, "1: an .om for slices of a virtual device.", "Leave the option out."},

  {"out_nodes", G::Feature, Text, "", "", Full, "Outputs: \"node1:0;node2:1\", or names of graph outputs \"out1;out2\"."},
  {"input_fp16_nodes", G::Feature, Text, "", "", Full, "Inputs that are given as FP16: \"in1;in2\"."},
  {"is_input_adjust_hw_layout", G::Feature, Text, "", "", Refused, "\"true,false\": inputs of --input_fp16_nodes in NC1HWC0.", "Give such inputs in the model's own layout."},
  {"is_output_adjust_hw_layout", G::Feature, Text, "", "", Refused, "\"true,false\": outputs of --out_nodes in NC1HWC0.", "Take such outputs in the model's own layout."},
  {"insert_op_conf", G::Feature, InputFile, "", "", Refused, "AIPP configuration.", "Preprocess images before they are given to the model."},
  {"op_name_map", G::Feature, InputFile, "", "", Ignored, "Caffe extension operators.", "it concerns Caffe models only"},
  {"external_weight", G::Feature, Choice, "0", "0|1|2", Refused, "1, 2: weights in files beside the .om.", "Leave the option out: weights are in the .om, of any size."},

  {"fusion_switch_file", G::ModelTuning, InputFile, "", "", Full, "Turns fusion passes on and off: JSON with GraphFusion and UBFusion, or lines Pass:off."},
  {"optimization_switch", G::ModelTuning, Text, "", "", Full, "\"Pass:on;Pass:off\", by the names of --list=passes or ATC's; beats --fusion_switch_file."},
  {"oo_level", G::ModelTuning, Choice, "O3", "O1|O3", Full, "Level of optimisation; O1: no fusion, but for what --optimization_switch turns on."},
  {"oo_constant_folding", G::ModelTuning, Bool, "true", "", Full, "false: only what kernels need as constants is folded: shapes, single numbers, weights of convolutions."},
  {"oo_dead_code_elimination", G::ModelTuning, Bool, "true", "", Full, "false: nodes whose results nothing reads stay and run."},
  {"topo_sorting_mode", G::ModelTuning, Choice, "1", "0|1|2|3", Ignored, "Order of nodes: 0 BFS, 1 DFS, 2 reverse DFS, 3 stable reverse DFS.", kTuning},
  {"disable_reuse_memory", G::ModelTuning, Switch, "0", "", Full, "1: each tensor has memory of its own; see OP_NO_REUSE_MEM for single nodes."},
  {"buffer_optimize", G::ModelTuning, Choice, "l2_optimize", "l2_optimize|l1_optimize|off_optimize", Ignored, "Use of on-chip caches.", kTuning},
  {"enable_small_channel", G::ModelTuning, Switch, "0", "", Ignored, "1: first convolution with few channels.", kTuning},
  {"enable_single_stream", G::ModelTuning, Bool, "false", "", Ignored, "One stream only.", kTuning},
  {"multi_stream_parallel_mode", G::ModelTuning, Text, "", "", Ignored, "cv, LoadBalance:N or MainStream:N.", kTuning},
  {"ac_parallel_enable", G::ModelTuning, Switch, "0", "", Ignored, "1: AI CPU beside AI Core.", kTuning},
  {"tiling_schedule_optimize", G::ModelTuning, Switch, "0", "", Ignored, "1: tiling on the device.", kTuning},
  {"quant_dumpable", G::ModelTuning, Switch, "0", "", Ignored, "1: keep inputs and outputs of quantisation.", kTuning},
  {"enable_compress_weight", G::ModelTuning, Bool, "false", "", Ignored, "Compressed weights.", "it changes sizes only"},
  {"compress_weight_conf", G::ModelTuning, InputFile, "", "", Ignored, "Nodes with compressed weights.", "it changes sizes only"},
  {"compression_optimize_conf", G::ModelTuning, InputFile, "", "", Refused, "Quantisation configuration.", "Quantise the ONNX model before."},
  {"sparsity", G::ModelTuning, Switch, "0", "", Ignored, "1: weights with 4:2 sparsity.", kTuning},
  {"enable_attr_compression", G::ModelTuning, Bool, "true", "", Ignored, "Short attribute names in the .om.", "attributes are stored in full"},
  {"mdl_bank_path", G::ModelTuning, Text, "", "", Full, "Folder of a bank of tuned tiles that aoe has written; --op_bank_path's beats it."},
  {"enable_scope_fusion_passes", G::ModelTuning, Text, "", "", Ignored, "Scope fusion of TensorFlow models.", "it concerns TensorFlow models only"},
  {"cluster_config", G::ModelTuning, InputFile, "", "", Refused, "Several devices.", "Compile for one device."},
  {"hccl_sub_comm_config", G::ModelTuning, InputFile, "", "", Refused, "Several devices.", "Compile for one device."},
  {"h2d_overlapped_with_compute", G::ModelTuning, Text, "", "", Ignored, "Input copies beside computation.", kTuning},
  {"static_model_ops_lower_limit", G::ModelTuning, Integer, "4", "-1..", Ignored, "Least size of a static part.", kTuning},
  {"build_config", G::ModelTuning, Text, "", "", Refused, "Further build settings.", "Leave the option out."},

  {"precision_mode", G::OperatorTuning, Choice, "force_fp16", "force_fp16|force_fp32|cube_fp16in_fp32out|allow_fp32_to_fp16|must_keep_origin_dtype|allow_mix_precision|allow_mix_precision_fp16|allow_mix_precision_bf16|allow_fp32_to_bf16", Full, "Dtypes of the network."},
  {"precision_mode_v2", G::OperatorTuning, Choice, "fp16", "fp16|origin|cube_fp16in_fp32out|mixed_float16|mixed_bfloat16|mixed_hif8|cube_hif8", Full, "The newer names; hif8 needs a chip that has it. Not together with --precision_mode."},
  {"modify_mixlist", G::OperatorTuning, InputFile, "", "", Full, "JSON lists for the mixed precisions: {\"black-list\": {\"to-add\": [\"LayerNorm\"], \"to-remove\": []}, \"white-list\": {...}}."},
  {"keep_dtype", G::OperatorTuning, InputFile, "", "", Full, "Nodes that keep their dtype: a name or OpType::Type a line."},
  {"customize_dtypes", G::OperatorTuning, InputFile, "", "", Full, "Dtypes of single nodes: Name::InputDtype:float16,OutputDtype:float32, or OpType::Type:..., a line each."},
  {"op_precision_mode", G::OperatorTuning, InputFile, "", "", Full, "Precision of single operators: [ByOpType] and [ByNodeName] with lines name=mode."},
  {"op_select_implmode", G::OperatorTuning, Choice, "high_performance", "high_precision|high_performance|high_precision_for_all|high_performance_for_all", Full, "Kernels to prefer; high_performance is there for Gelu, by Sigmoid, off by 5e-4 at most."},
  {"optypelist_for_implmode", G::OperatorTuning, Text, "", "", Full, "Operators of --op_select_implmode: \"Op1,Op2\"."},
  {"allow_hf32", G::OperatorTuning, Bool, "", "", Ignored, "Reserved.", "it is reserved"},
  {"is_weight_clip", G::OperatorTuning, Switch, "1", "", Refused, "0: weights beyond fp16 become infinite.", "Leave the option out."},
  {"jit_compile", G::OperatorTuning, Choice, "1", "0|1|2", Ignored, "Prebuilt or compiled kernels.", kTuning},
  {"op_bank_path", G::OperatorTuning, Text, "", "", Full, "Folder of a bank of tuned tiles: aoe writes it, atc takes the tiles of tasks that are in it."},

  {"log", G::Debug, Text, "null", "debug|info|warning|error|null", Full, "Level of the log on stderr: debug, info, warning, error or null."},
  {"dump_mode", G::Debug, Switch, "0", "", Refused, "1: JSON with shapes, in mode 1.", "Leave the option out."},
  {"display_model_info", G::Debug, Switch, "0", "", Full, "1: print information on the .om after compiling."},
  {"export_compile_stat", G::Debug, Choice, "1", "0|1|2", Full, "fusion_result.json: 0 never, 1 at exit, 2 after compiling."},
  {"debug_dir", G::Debug, Text, "./kernel_meta", "", Ignored, "Folder of intermediates.", "see --dump-dir"},
  {"op_debug_level", G::Debug, Choice, "0", "0|1|2|3|4", Ignored, "Intermediates to keep.", "see --dump-dir"},
  {"op_debug_config", G::Debug, InputFile, "", "", Ignored, "Debug settings of kernels.", "kernels check themselves"},
  {"status_check", G::Debug, Switch, "0", "", Ignored, "1: overflow detection in kernels.", "results do not depend on it"},
  {"op_compiler_cache_mode", G::Debug, Choice, "disable", "disable|enable|force", Ignored, "Cache of compiled kernels.", "kernels are built in"},
  {"op_compiler_cache_dir", G::Debug, Text, "", "", Ignored, "Folder of that cache.", "kernels are built in"},
  {"atomic_clean_policy", G::Debug, Switch, "0", "", Ignored, "1: separate clearing of memory.", kTuning},
  {"deterministic", G::Debug, Switch, "0", "", Full, "1: reproducible results; they always are."},
  {"deterministic_level", G::Debug, Choice, "0", "0|1|2|3", Full, "Kind of reproducibility; the strongest always holds."},
  {"save_original_model", G::Debug, Bool, "false", "", Refused, "true: also writes OUTPUT_original.om.", "Leave the option out."},
  {"shape_generalized_build_mode", G::Debug, Choice, "shape_precise", "shape_precise|shape_generalized", Ignored, "Retiring.", kTuning},
  {"auto_tune_mode", G::Debug, Text, "", "", Refused, "Deprecated."},

  {"custom_op", G::Extension, Text, "", "", Full, "Libraries of custom operators: \"Type:lib.so,...\", or lib.so for all that it lists. Folders of ASCEND_CUSTOM_OPP_PATH are searched too."},
  {"custom_op_embed", G::Extension, Switch, "1", "", Full, "1: the .om holds these libraries; 0: it refers to them by path and hash."},
  {"print-ir-after", G::Extension, Text, "", "", Full, "Print the graph after a pass: its name, all, or changed."},
  {"dump-dir", G::Extension, Text, "", "", Full, "Folder for the graphs of --print-ir-after."},
  {"timing", G::Extension, Flag, "", "", Full, "Print the time of each pass; =json for one JSON object."},
  {"report", G::Extension, Text, "", "", Full, "Write the compilation report: a page where the name ends in .html, else JSON."},
  {"diagnostics", G::Extension, Choice, "text", "text|json", Full, "json: print errors and warnings as JSON, one a line."},
  {"explain", G::Extension, Text, "", "", Full, "Explain a code, for example E10001, and exit."},
  {"list", G::Extension, Choice, "", "socs|ops|passes", Full, "Print the known chips, operators or passes, and exit."},
  {"threads", G::Extension, Integer, "0", "0..1024", Full, "Threads to compile with; 0: one for each CPU. The result does not depend on it."},
});
// clang-format on

}  // namespace

std::span<const OptionSpec> option_table() { return kOptions; }

std::string canonical_name(std::string_view name) {
  std::string canonical(name);
  for (char& c : canonical)
    if (c == '-') c = '_';
  return canonical;
}

const OptionSpec* find_option(std::string_view name) {
  const std::string wanted = canonical_name(name);
  for (const OptionSpec& spec : kOptions)
    if (canonical_name(spec.name) == wanted) return &spec;
  return nullptr;
}

std::string_view title(OptionGroup group) {
  switch (group) {
    case G::General:
      return "General";
    case G::Input:
      return "Input";
    case G::Output:
      return "Output";
    case G::Target:
      return "Target";
    case G::Feature:
      return "Feature";
    case G::ModelTuning:
      return "Model Tuning";
    case G::OperatorTuning:
      return "Operator Tuning";
    case G::Debug:
      return "Debug";
    case G::Extension:
      return "Extensions of this compiler";
  }
  return "";
}

}  // namespace atc::driver
