#pragma once

#include <optional>

#include "passes/pass.h"

namespace atc::passes {

/// Chooses the storage type of every floating value after fusion. What a vector program, an accumulator or
/// an epilogue holds is fp32 in any case; only values that go through Global Memory are narrowed.
///
/// Fp16: cube operands and everything else become fp16, except
/// - inputs and outputs of the model, which keep their types (Casts are inserted where a task cannot
///   convert on its way);
/// - operators that run on the AI CPU;
/// - values, constants and rows of tables that a quantizing program reads, also through data movement:
///   rounded before, many would land a quantization step away;
/// - fp32 islands: results of Pow, Exp, sums and the like, whose range or rounding fp16 breaks;
/// - constants that do not fit fp16's range, and small ones outside the cube.
/// The mixed modes: cube operands and results become fp16 (bf16); vector programs follow their inputs, unless
/// they have an operator of the black list (reductions, Exp, Log, Pow and the like).
/// Fp32 narrows cube operands only; AllowFp32ToFp16 does so on chips whose cube has no fp32.
/// Origin leaves fp32 as it is. Islands, clipped constants and the totals go to the context's
/// PrecisionRecord.
Pass precision_pass();  ///< "precision"; changes: values and constants narrowed, Casts inserted

/// The mode as a plan's "precision" has it, and --precision_mode_v2 where that knows it: "fp16", "origin",
/// ...
std::string_view precision_name(Precision precision);
std::optional<Precision> precision_from_name(std::string_view name);

/// Why results of the operator stay fp32 in fp16 mode (an fp32 island); empty when they do not.
std::string_view fp32_reason(std::string_view op_type);

}  // namespace atc::passes
