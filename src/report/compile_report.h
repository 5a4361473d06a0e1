#pragma once

#include <filesystem>

#include "atc/base/status.h"
#include "passes/pass.h"
#include "plan/plan.h"

namespace atc::report {

/// --report: the compilation report as JSON (schema_version 1): model, chip, precision; totals (tasks by
/// engine, multiply-accumulates by engine, arena and weight bytes); fusions; and for each task its name,
/// operator, engine, kernel template, blocks (cores), tiles, multiply-accumulates and the ONNX nodes it
/// stands for; "cube_f32": "extension" where the chip's cube has no fp32 and the simulator's named extension
/// runs the task; every precision change that the compiler made by itself, with its reason; the memory plan
/// (memory_report.h). Keys are sorted and nothing depends on time or place.
Status write_compile_report(const plan::Plan& plan, const passes::PassContext& context,
                            const std::filesystem::path& path);

}  // namespace atc::report
