#pragma once

#include <array>
#include <span>
#include <vector>

#include "aicore/window.h"
#include "kernels/cube_conv.h"

namespace atc::kernels {

using aicore::WindowKind;

/// Windows along one spatial axis: output o looks at input o * stride - pad_begin + k * dilation, k < kernel.
struct WindowExtent {
  std::int64_t in = 1, out = 1;
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;  ///< only averages that include the padding need it
};

/// Pooling or depthwise convolution over an NC1HWC0 tensor; arithmetic is f32 whatever the storage.
/// Operand 0: input [N][C1][D][H][W][16], f32, f16 or bf16. Depthwise: operand 1 is the weights
/// [C1][KD * KH * KW][16] (channel by lane), of any of these dtypes too. With `bias` the next operand is the
/// bias [C1][16], from which the sums start. The epilogue's operand k is the task operand after those; its
/// Acc is the result of the windows and its stores make the outputs. Max pads with -inf. An average divides
/// by the taps within the input or, with `include_pad`, within input and padding: outputs that ceil_mode adds
/// are partial windows.
struct WindowSpec {
  WindowKind kind = WindowKind::Max;
  bool include_pad = false;
  bool bias = false;  ///< Depthwise only
  std::int64_t batch = 1, c1 = 1;
  std::int64_t in_batch = 0;  ///< elements from an item of the input to the next; 0: they lie back to back
  std::array<WindowExtent, 3> axis;  ///< D, H, W
  std::vector<ConvAddress> epilogue_operands;
  VectorProgram epilogue;
};

/// Whether make_window takes extents of this size. Every window can be cut into parts that fit UB; only
/// extents that do not occur, and whose products would overflow, are beyond it.
bool window_in_range(std::span<const std::int64_t> kernel, std::span<const std::int64_t> strides,
                     std::span<const std::int64_t> dilations, std::span<const std::int64_t> pads);

/// Builds the task. E10041 when the spec is not consistent with its operands, or when the epilogue leaves UB
/// no room for one tap.
StatusOr<Task> make_window(const WindowSpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
