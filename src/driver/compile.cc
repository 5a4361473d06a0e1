#include "driver/compile.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "atc/base/strings.h"
#include "driver/customized_types.h"
#include "driver/log.h"
#include "driver/memory_options.h"
#include "driver/model_edit.h"
#include "driver/option_errors.h"
#include "driver/path_checks.h"
#include "driver/precision_nodes.h"
#include "driver/tuning.h"
#include "frontend/onnx/importer.h"
#include "om/writer.h"
#include "passes/bind_shapes.h"
#include "passes/fusion_trace.h"
#include "passes/kept_dead_code.h"
#include "passes/operator_check.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/plan_info.h"
#include "passes/precision.h"
#include "plan/build.h"
#include "report/compile_report.h"
#include "report/fusion_result.h"
#include "report/source_graph.h"
#include "runtime/simulate.h"

namespace atc::driver {
namespace {

constexpr std::string_view kVersion = "0.1.0";
constexpr int kNewestOpset = 28;  // of ONNX's default domain

// --input_shape as dims; ranges are refused with the options.
std::map<std::string, std::vector<std::int64_t>> bindings(const CompileOptions& options) {
  std::map<std::string, std::vector<std::int64_t>> out;
  for (const InputShape& s : options.input_shapes) {
    std::vector<std::int64_t> dims;
    for (const DimBound& d : s.dims) dims.push_back(d.is_static() ? d.min : -1);
    out[s.name] = std::move(dims);
  }
  return out;
}

void remove_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
}

/// What --report tells beside the plan.
struct Trail {
  passes::FusionTrace trace;
  std::optional<report::SourceGraph> sources;
  passes::CustomTakeover custom;
};

Status run_pipeline(const CompileOptions& options, std::vector<passes::Pass> passes, ir::Graph& graph,
                    passes::PassContext& context, Trail& trail, CompileResult& result) {
  passes::PassManagerOptions manager_options;
  if (!options.report.empty()) {
    manager_options.trace = &trail.trace;
    manager_options.on_canonical = [&](const ir::Graph& canonical) { trail.sources.emplace(canonical); };
  }
  manager_options.print_ir_after = options.print_ir_after;
  manager_options.dump_dir = options.dump_dir.string();
  manager_options.print = [&](std::string_view text) { result.console += text; };
  passes::PassManager manager(std::move(passes), manager_options);
  ATC_TRY(manager.run(graph, context));
  for (const passes::PassRecord& r : manager.records())
    log(LogLevel::Debug, "pass " + std::string(r.name) + ": " + std::to_string(r.changes) + " changes, " +
                             std::to_string(r.milliseconds) + " ms");
  if (options.timing == Timing::Text) result.console += passes::timing_table(manager.records());
  if (options.timing == Timing::Json) result.console += passes::timing_json(manager.records());
  return {};
}

/// The .om comes last: where it is, everything else was written too.
Status write_files(const CompileOptions& options, const plan::BuiltPlan& built,
                   const passes::PassContext& context, const Trail& trail, const ir::Graph& graph) {
  ATC_ASSIGN(const om::OmImage image, om::make_om(built.plan, built.weights, graph));
  ATC_TRY(create_folder_of(options.om_output()));
  if (options.export_compile_stat != 0) {
    ATC_TRY(create_folder_of(fusion_result_path()));
    ATC_TRY(report::write_fusion_result({{0, 0, context.fusions}}, fusion_result_path()));
  }
  if (!options.report.empty()) {
    ATC_TRY(create_folder_of(options.report));
    ATC_ASSIGN(const auto prepared, runtime::prepare(built.plan));
    ATC_ASSIGN(const runtime::Simulation simulation,
               runtime::simulate(*prepared, {.load_libraries = false, .profile = true}));
    ATC_TRY(
        report::write_compile_report({built.plan, context, trail.trace.formations(), trail.sources.value(),
                                      image, trail.custom.taken, simulation, kernels::current_plan_bank()},
                                     options.report));
  }
  return om::write_om(options.om_output(), image);
}

Status write_outputs(const CompileOptions& options, const plan::BuiltPlan& built,
                     const passes::PassContext& context, const Trail& trail, const ir::Graph& graph) {
  Status written = write_files(options, built, context, trail, graph);
  if (written.ok()) return written;
  // What tells of a model that is not there is misleading.
  if (options.export_compile_stat != 0) remove_file(fusion_result_path());
  if (!options.report.empty()) remove_file(options.report);
  return written;
}

/// Later opsets may mean something else; ONNX keeps most operators as they are.
void warn_of_newer_opset(const ir::Model& model, CompileResult& result) {
  const auto opset = model.opsets.find("");
  if (opset == model.opsets.end() || opset->second <= kNewestOpset) return;
  Diagnostic& warning = result.warnings.emplace_back();
  warning.code = "W10001";
  warning.message = "the model uses opset " + std::to_string(opset->second) +
                    ", operators are taken as of opset " + std::to_string(kNewestOpset) +
                    ", the newest that this version knows.";
}

/// What the user gave for nothing: a misspelt type, or a pattern that the model does not have.
void warn_of_unused(const passes::CustomTakeover& custom, const soc::Chip& chip, CompileResult& result) {
  for (const passes::CustomEntry& entry : custom.operators.entries) {
    const bool used =
        std::any_of(custom.taken.begin(), custom.taken.end(), [&](const passes::CustomTaken& t) {
          return t.op == entry.info().type && t.library == entry.library->name();
        });
    if (used || !entry.asked) continue;
    Diagnostic& warning = result.warnings.emplace_back();
    warning.code = "W10001";
    warning.message = "the custom operator " + entry.info().type + " of " + entry.library->name() +
                      " has no effect: " +
                      (custom::chip_matches(entry.info(), chip.name)
                           ? "the model has no node and no subgraph for it."
                           : "it is made for " + join(entry.info().chips, ", ") + ", --soc_version is " +
                                 std::string(chip.name) + ".");
  }
}

Status compile_model(const CompileOptions& options, CompileResult& result) {
  const bool needs_bf16 = options.precision == passes::Precision::MixedBfloat16 ||
                          options.precision == passes::Precision::AllowFp32ToBf16;
  if (needs_bf16 && !options.chip->bf16)
    return invalid_value("E10001", options.precision_option, options.precision_value,
                         std::string(options.chip->name) + " has no bfloat16")
        .solution("Use --precision_mode_v2=mixed_float16, or a chip that has it, such as Ascend910B3.");
  ATC_ASSIGN(ir::Model model, frontend::import_model(options.model));
  ir::Graph& graph = *model.graph;
  warn_of_newer_opset(model, result);
  log(LogLevel::Info, "imported " + std::to_string(graph.node_list().size()) + " nodes of " +
                          options.model.filename().string());
  passes::PassContext context;
  if (!options.node_precisions.empty()) {
    const CustomizedTypes types(graph, bindings(options));
    ATC_ASSIGN(context.options.node_precisions,
               resolve_precisions(graph, options.node_precisions,
                                  written_forms(graph, bindings(options), options.switches), types,
                                  result.warnings));
  }
  std::optional<passes::KeptDeadCode> unread;
  if (options.keeps_dead_code) unread.emplace(graph);
  ATC_TRY(select_outputs(graph, options.out_nodes));
  if (unread) unread->attach(graph);
  graph.sweep();
  Trail trail;
  ATC_ASSIGN(trail.custom.operators, load_custom_ops(options.custom_ops));
  ATC_TRY(passes::take_custom_nodes(graph, trail.custom.operators, *options.chip, trail.custom.taken));
  if (unread) unread->detach(graph);
  ATC_TRY(passes::check_operators(graph, passes::Conditionals::Skip));
  ATC_TRY(passes::bind_input_shapes(graph, bindings(options), "input_shape"));
  ATC_TRY(narrow_inputs(graph, options.input_fp16_nodes));
  ATC_TRY(cast_outputs(graph, options.output_types, options.out_nodes));

  context.options.chip = options.chip;
  context.options.precision = options.precision;
  context.options.switches = options.switches;
  if (unread) unread->attach(graph);
  context.custom = &trail.custom;
  ATC_TRY(run_pipeline(options, passes::pipeline(), graph, context, trail, result));
  warn_of_unused(trail.custom, *options.chip, result);

  ATC_ASSIGN(plan::BuiltPlan built, plan::build_plan(graph, *options.chip, memory_options(options, graph),
                                                     unread ? unread->count() : 0));
  if (unread) unread->detach(graph);
  warn_of_unknown_names(built.plan.memory, result.warnings);
  if (!options.embed_custom_ops)
    for (plan::PlanLibrary& library : built.plan.libraries) library.bytes = {};
  built.plan.model_name = options.output.filename().string();
  built.plan.info["atc_cmdline"] = options.command_line;
  built.plan.info["atc_version"] = std::string(kVersion);
  built.plan.info["framework_type"] = "5";
  built.plan.info["input_format"] = options.input_format;
  passes::write_plan_info(context.options, built.plan.info);
  log(LogLevel::Info, "planned " + std::to_string(built.plan.tasks.size()) + " tasks, " +
                          std::to_string(built.plan.arena_bytes) + " bytes of memory, " +
                          std::to_string(built.plan.weight_bytes) + " bytes of weights");
  return write_outputs(options, built, context, trail, graph);
}

}  // namespace

Status compile(const CompileOptions& options, CompileResult& result) {
  // One of an earlier model would be taken for this one's.
  if (options.export_compile_stat != 0) remove_file(fusion_result_path());
  const std::string doing = "compiling " + options.model.filename().string();
  if (options.banks.empty()) return compile_model(options, result).while_doing(doing);
  kernels::PlanBank bank(options.tune);
  ATC_TRY(read_banks(options, bank, result.warnings));
  const kernels::PlanBankScope scope(bank);
  ATC_TRY(compile_model(options, result).while_doing(doing));
  return finish_banks(options, bank, result);
}

}  // namespace atc::driver
