#pragma once

#include <cstdint>
#include <string>

namespace atc::ops {

/// ONNX Pad's modes: a value, mirrored without repeating the border, the border repeated, periodic.
enum class PadMode : std::uint8_t { Constant, Reflect, Edge, Wrap };

/// What is wrong with padding an axis of `length` by `before` and `after` (negative: removed); "" when
/// nothing is.
std::string pad_fault(PadMode mode, std::int64_t length, std::int64_t before, std::int64_t after);

/// Which element of an axis of `length` stands at position `k` of the padded axis, counted from the first
/// element of the input; -1 where Constant puts its value. Precondition: pad_fault is "".
std::int64_t pad_source(PadMode mode, std::int64_t length, std::int64_t k);

}  // namespace atc::ops
