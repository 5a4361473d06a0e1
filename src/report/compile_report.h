#pragma once

#include <filesystem>
#include <vector>

#include "atc/base/status.h"
#include "kernels/plan_bank.h"
#include "om/writer.h"
#include "passes/custom_nodes.h"
#include "passes/fusion_trace.h"
#include "passes/pass.h"
#include "plan/plan.h"
#include "report/source_graph.h"
#include "runtime/simulate.h"

namespace atc::report {

/// What the report is made of.
struct CompileReport {
  const plan::Plan& plan;
  const passes::PassContext& context;
  const std::vector<passes::Formation>& formations;
  const SourceGraph& sources;
  const om::OmImage& image;
  const std::vector<passes::CustomTaken>& custom;  ///< what custom operators took
  const runtime::Simulation& simulation;           ///< of the plan, with SimulateOptions::profile
  const kernels::PlanBank* bank = nullptr;         ///< of tuned tiles, when one is in use
};

/// --report: the compilation report as JSON (schema_version 1), or as a page that shows the same where the
/// file's name ends in .html. Keys are sorted and nothing depends on time or place:
/// - "model", "soc_version", "info";
/// - "totals": tasks and multiply-accumulates by engine, arena and weight bytes, tasks and bytes saved, time
///   as modelled; "gm_bytes": what the AI Cores' tasks move to and from Global Memory, and
///   "compulsory_bytes": each of their operands once, of tables that are read in part what is read;
/// - "tasks": name, operator, engine, kernel template, blocks (cores), tiles and their "tiling", time as
///   modelled and what bounds it (src/profile/verdict.h), multiply-accumulates, the ONNX nodes ("sources");
///   "formed_by": passes that made one of several of them; "saved": tasks and bytes of intermediates against
///   a task for each node; "tuned": its tiles are those of a bank (--op_bank_path); "cube_f32": "extension"
///   where the chip's cube has no fp32 and the simulator's named extension runs the task;
/// - "fusions": counts by ATC's names; "near_misses": fusions that failed on one condition, and on which;
/// - "precision": every change that the compiler made by itself or was asked for, with its reason;
/// - "custom_operators": libraries and the nodes that they took, where there are any;
/// - "memory": the memory plan (memory_report.h);
/// - "size": what the bytes of the .om are.
Status write_compile_report(const CompileReport& report, const std::filesystem::path& path);

}  // namespace atc::report
