#pragma once

#include <array>
#include <cstdint>

namespace atc::aicore {

struct Buffer;

enum class WindowKind : std::uint8_t {
  Max,        ///< NaN wins; an empty window gives -inf
  Average,    ///< sum / divisor (see WindowAxis)
  Depthwise,  ///< sum of taps * weights, plus bias
};

/// One spatial axis of the windows of a tile. Output i looks at input first + i * stride + k * dilation, k <
/// kernel.
struct WindowAxis {
  std::int64_t kernel = 1, stride = 1, dilation = 1;
  std::int64_t out = 1;    ///< outputs in the tile
  std::int64_t first = 0;  ///< input coordinate of the first tap; negative in the padding
  std::int64_t in = 1;     ///< extent of the input
  std::int64_t pad_end = 0;
  /// Taps of the whole window before and after those of a part (see WindowTile); `kernel` and `first` are the
  /// part's own.
  std::int64_t before = 0, after = 0;
  /// Input coordinates from the first to the last that the tile looks at.
  std::int64_t span() const { return (out - 1) * stride + (kernel - 1) * dilation + 1; }
  /// Those within the input, relative to `first`; low >= high when there are none.
  std::int64_t low() const { return first < 0 ? -first : 0; }
  std::int64_t high() const { return span() < in - first ? span() : in - first; }
  bool padded() const { return low() > 0 || high() < span(); }
  /// Taps of output i's whole window that count in an average: those in the input or, with `include_pad`,
  /// also those in the padding (what ceil_mode adds beyond it does not count).
  std::int64_t counted(std::int64_t i, bool include_pad) const;
};

/// A tile of windows over planes [D][H][W][16] of an NC1HWC0 tensor: all outputs of axis[0..2] = D, H, W for
/// `planes` neighbouring planes. Of windows too large for UB it is one part, a box of their taps: parts run
/// in the order of the taps, each goes on from the results of the one before, the last one divides an
/// average.
struct WindowTile {
  WindowKind kind = WindowKind::Max;
  bool include_pad = false;
  std::int64_t planes = 1;
  std::array<WindowAxis, 3> axis;
  std::int64_t taps() const { return axis[0].kernel * axis[1].kernel * axis[2].kernel; }
  std::int64_t pixels() const { return axis[0].out * axis[1].out * axis[2].out; }  ///< of one plane
  std::int64_t patch_elements() const {
    return planes * axis[0].span() * axis[1].span() * axis[2].span() * 16;
  }
  bool starts() const { return axis[0].before == 0 && axis[1].before == 0 && axis[2].before == 0; }
  bool ends() const { return axis[0].after == 0 && axis[1].after == 0 && axis[2].after == 0; }
  bool padded() const { return axis[0].padded() || axis[1].padded() || axis[2].padded(); }
};

/// The input of a tile as f32: a padded patch in UB, or in Fast mode possibly the planes where they are.
struct WindowPatch {
  Buffer* buffer = nullptr;
  const float* data = nullptr;
  std::int64_t origin = 0;  ///< element at tile coordinate (0, 0, 0); it exists only where low and high allow
  std::int64_t plane_stride = 0, d_stride = 0, h_stride = 0;  ///< elements
  std::array<std::int64_t, 3> low{}, high{};                  ///< coordinates that exist
};

/// One row of outputs for the host loops. Tap rows point at tile column 0.
struct WindowRow {
  const float* const* taps = nullptr;
  const float* const* weights = nullptr;  ///< [kernel][16] of each tap row; Depthwise only
  std::int64_t tap_rows = 0;
  std::int64_t kernel = 1, stride = 1, dilation = 1;  ///< along W
  std::int64_t low = 0, high = 0;                     ///< columns that exist
  std::int64_t out = 0;
  const float* start = nullptr;  ///< initial values: 16 for every output, or `dst` to go on from there
  std::int64_t start_step = 0;   ///< elements from one output's initial values to the next's: 0 or 16
  float* dst = nullptr;
};

/// Host loops, built for each instruction set (window_loops.inc). Sums keep the order of the taps.
struct WindowTable {
  void (*max)(const WindowRow&);
  void (*sum)(const WindowRow&);
  void (*depthwise)(const WindowRow&);
  /// dst[pixel][lane] /= divisor[pixel]
  void (*divide)(float* dst, const float* divisor, std::int64_t pixels);
};
const WindowTable& window_table();
const WindowTable& window_table_generic();
const WindowTable& window_table_avx2();

}  // namespace atc::aicore
