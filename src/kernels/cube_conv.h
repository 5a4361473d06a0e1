#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/tile_program.h"

namespace atc::kernels {

/// How an operand of a convolution's epilogue is addressed at output (n, c1, d, h, w, lane), in elements.
/// `c0` lanes make a block of channels: 16, or 32 for 8-bit types, whose blocks are two panels of the cube.
/// An operand that is not stored in blocks has c1 = 16 * lane and states how many channels it has.
struct ConvAddress {
  std::int64_t offset = 0;
  std::int64_t n = 0, c1 = 0, d = 0, h = 0, w = 0, lane = 0;
  std::int64_t c0 = 16;
  std::int64_t channels = 0;  ///< 0: whole blocks

  /// Where panel `p` of 16 channels starts.
  std::int64_t panel(std::int64_t p) const { return c0 == 32 ? p / 2 * c1 + p % 2 * 16 * lane : p * c1; }
  friend bool operator==(const ConvAddress&, const ConvAddress&) = default;
  /// How many of the `lanes` channels from panel `p` on it has; 0 for all.
  std::int64_t lanes_from(std::int64_t p, std::int64_t lanes) const {
    return channels == 0 ? 0 : std::min(lanes, channels - p * 16);
  }
};

/// Whether each channel of `panels` panels, batch item and position i * step (i < count, along D, H, W) has
/// an address of its own.
bool one_to_one(const ConvAddress& address, std::int64_t batch, std::int64_t panels,
                const std::array<std::int64_t, 3>& count, const std::array<std::int64_t, 3>& step);

/// One weight tap as output phase (see ConvPhase) reads it: input = i * in_stride + displacement.
struct ConvTap {
  std::int64_t index = 0;  ///< number of the tap in the packed weights: (kd * KH + kh) * KW + kw
  std::array<std::int64_t, 3> shift = {};  ///< displacement along D, H, W
};

/// A grid of output positions that share their taps: position i along an axis is output
/// start + i * step. A convolution has one phase; a transposed one has stride_d * stride_h * stride_w.
struct ConvPhase {
  std::array<std::int64_t, 3> start = {0, 0, 0};
  std::array<std::int64_t, 3> step = {1, 1, 1};
  std::array<std::int64_t, 3> count = {1, 1, 1};
  std::vector<ConvTap> taps;
};

/// A convolution on NC1HWC0 tensors, accumulated in f32, of int8 in i32.
/// Operand 0: input [N][C1][D][H][W][C0]; operand 1: weights [groups * n1][k1 * taps][16 k][16 n], of int8
/// [..][16][16 n][2 k]; the epilogue's operand k is task operand k + 2, its Acc is the convolution, and its
/// stores make the outputs. Missing spatial axes have extent 1. C0 is 16, of int8 32.
///
/// Small channels (NC1HWC0_C04): a pixel of the input has 4 lanes and `taps_in_fractal` = C0 / 4 taps lie
/// side by side in a fractal of the weights, [n1][taps / taps_in_fractal][..], zero where there is no channel
/// or tap. Groups and k1 are 1, `taps` and the numbers of taps count such places, and a depth's taps begin a
/// fractal.
struct ConvSpec {
  std::int64_t batch = 1, groups = 1;
  std::int64_t k1 = 1;                         ///< C1 blocks of one group's input
  std::int64_t k_last = 16;                    ///< valid channels in the last of them, of the last group
  std::int64_t n1 = 1;                         ///< panels of 16 channels of one group's output
  std::int64_t pad = 0;                        ///< what padding holds; other than 0 for int8 only
  std::int64_t taps = 1;                       ///< KD * KH * KW
  std::int64_t taps_in_fractal = 1;            ///< 1, or C0 / 4
  std::array<std::int64_t, 3> in = {1, 1, 1};  ///< input D, H, W
  std::array<std::int64_t, 3> in_stride = {1, 1, 1};
  std::int64_t in_batch = 0;  ///< elements from an item of the input to the next; 0: they lie back to back
  std::vector<ConvPhase> phases;
  std::vector<ConvAddress> epilogue_operands;
  VectorProgram epilogue;
  std::int64_t fractals() const { return taps / taps_in_fractal; }  ///< of one block of channels, all taps
  /// Lanes of a pixel of one block of channels of the input.
  int lanes(DType dtype) const { return aicore::cube_lanes(dtype) / static_cast<int>(taps_in_fractal); }
};

/// Input and weights are of one dtype: f32, f16, bf16 or int8 (the program's Acc is then I32).
StatusOr<Task> make_conv_task(const ConvSpec& spec, std::vector<Operand> operands, const soc::Chip& chip);

}  // namespace atc::kernels
