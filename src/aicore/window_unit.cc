// Windows (pooling, depthwise convolution) on the vector unit, as macro-instructions over a tile: the load of
// a padded patch, and one vector instruction for each tap of each row of outputs.

#include <algorithm>
#include <cstring>
#include <limits>

#include "aicore/core.h"
#include "aicore/window.h"
#include "atc/base/check.h"
#include "atc/base/half.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

constexpr Cycle kIssue = 8;

// Fast mode: rows at least this long are read where they are, with a slow path for the outputs at the border;
// shorter ones are cheaper to copy into a padded patch.
constexpr std::int64_t kAliasWidth = 40;

alignas(64) constexpr float kZeros[16] = {};
constexpr float kLow = -std::numeric_limits<float>::infinity();
alignas(64) constexpr float kLows[16] = {kLow, kLow, kLow, kLow, kLow, kLow, kLow, kLow,
                                         kLow, kLow, kLow, kLow, kLow, kLow, kLow, kLow};

bool host_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

void widen(const std::byte* src, DType dtype, float* dst, std::int64_t n) {
  switch (dtype) {
    case DType::F16:
      return convert(reinterpret_cast<const Half*>(src), dst, static_cast<std::size_t>(n));
    case DType::BF16:
      return convert(reinterpret_cast<const BFloat16*>(src), dst, static_cast<std::size_t>(n));
    default:
      std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(float));
  }
}

float pad_value(WindowKind kind) { return kind == WindowKind::Max ? kLow : 0.0f; }

/// A tile's part of the input, in elements of the input.
struct Box {
  std::int64_t h_stride, d_stride, plane_stride;
  std::array<std::int64_t, 3> low, n;  // coordinates of the input that exist
  bool empty = false;

  explicit Box(const WindowTile& t) {
    h_stride = t.axis[2].in * 16;
    d_stride = t.axis[1].in * h_stride;
    plane_stride = t.axis[0].in * d_stride;
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = t.axis[a].first + t.axis[a].low();
      n[a] = t.axis[a].high() - t.axis[a].low();
      empty = empty || n[a] <= 0;
    }
  }
  std::int64_t at(std::int64_t plane, std::int64_t d, std::int64_t h) const {
    return plane * plane_stride + (low[0] + d) * d_stride + (low[1] + h) * h_stride + low[2] * 16;
  }
};

}  // namespace

const WindowTable& window_table() {
  static const WindowTable& table = host_has_avx2() ? window_table_avx2() : window_table_generic();
  return table;
}

std::int64_t WindowAxis::counted(std::int64_t i, bool include_pad) const {
  const std::int64_t start = first - before * dilation + i * stride, taps = before + kernel + after;
  const std::int64_t end = include_pad ? in + pad_end : in;
  // Taps before `low` and from `high` on do not count.
  const std::int64_t low = include_pad || start >= 0 ? 0 : ceil_div(-start, dilation);
  const std::int64_t high = end <= start ? 0 : std::min(taps, ceil_div(end - start, dilation));
  return std::max<std::int64_t>(high - low, 0);
}

WindowPatch Core::load_window(Buffer& patch, Buffer& staging, const Gm& src, std::int64_t element,
                              DType dtype, const WindowTile& t) {
  const std::int64_t e = bit_width(dtype) / 8;
  const std::int64_t elements = t.patch_elements();
  ATC_CHECK(elements * 4 <= patch.bytes && (e == 4 || elements * e <= staging.bytes),
            "window patch of " + std::to_string(elements) + " elements beyond its UB buffers");
  const Box box(t);
  if (!box.empty) {
    const std::int64_t begin = element + box.at(0, 0, 0);
    const std::int64_t end = element + box.at(t.planes - 1, box.n[0] - 1, box.n[1] - 1) + box.n[2] * 16;
    check_gm(src, begin * e, (end - begin) * e);
  }
  if (values_ == Values::Literal || timing_) {
    const Values mode = values_;
    if (mode == Values::Fast) values_ = Values::None;  // for the timeline only
    expand_window_load(patch, staging, src, element, dtype, t);
    values_ = mode;
  }
  WindowPatch out;
  out.buffer = &patch;
  out.h_stride = t.axis[2].span() * 16;
  out.d_stride = t.axis[1].span() * out.h_stride;
  out.plane_stride = t.axis[0].span() * out.d_stride;
  for (std::size_t a = 0; a < 3; ++a) out.high[a] = t.axis[a].span();
  if (values_ == Values::Literal) out.data = reinterpret_cast<const float*>(patch.data);
  if (values_ != Values::Fast) return out;

  const std::byte* from = src.data + element * e;
  if (dtype == DType::F32 && (t.axis[2].out >= kAliasWidth || !t.padded())) {
    out.data = reinterpret_cast<const float*>(from);
    out.h_stride = box.h_stride;
    out.d_stride = box.d_stride;
    out.plane_stride = box.plane_stride;
    out.origin = t.axis[0].first * box.d_stride + t.axis[1].first * box.h_stride + t.axis[2].first * 16;
    for (std::size_t a = 0; a < 3; ++a) {
      out.low[a] = t.axis[a].low();
      out.high[a] = t.axis[a].high();
    }
    return out;
  }
  float* to = reinterpret_cast<float*>(writable(patch));
  out.data = to;
  const float pad = pad_value(t.kind);
  if (box.empty) {
    std::fill_n(to, elements, pad);
    return out;
  }
  const std::int64_t left = t.axis[2].low() * 16, middle = box.n[2] * 16;
  const std::int64_t right = out.h_stride - left - middle;
  for (std::int64_t p = 0; p < t.planes; ++p)
    for (std::int64_t d = 0; d < t.axis[0].span(); ++d)
      for (std::int64_t h = 0; h < t.axis[1].span(); ++h, to += out.h_stride) {
        const std::int64_t dv = d - t.axis[0].low(), hv = h - t.axis[1].low();
        if (dv < 0 || dv >= box.n[0] || hv < 0 || hv >= box.n[1]) {
          std::fill_n(to, out.h_stride, pad);
          continue;
        }
        std::fill_n(to, left, pad);
        widen(from + box.at(p, dv, hv) * e, dtype, to + left, middle);
        std::fill_n(to + left + middle, right, pad);
      }
  return out;
}

void Core::expand_window_load(Buffer& patch, Buffer& staging, const Gm& src, std::int64_t element,
                              DType dtype, const WindowTile& t) {
  const std::int64_t e = bit_width(dtype) / 8;
  const std::int64_t elements = t.patch_elements();
  Buffer& target = dtype == DType::F32 ? patch : staging;
  if (t.padded()) {
    const float pad = pad_value(t.kind);
    const Half half = to_half(pad);
    const BFloat16 brain = to_bfloat16(pad);
    const void* value = dtype == DType::F16    ? static_cast<const void*>(&half)
                        : dtype == DType::BF16 ? static_cast<const void*>(&brain)
                                               : static_cast<const void*>(&pad);
    fill(target, 0, elements, static_cast<int>(e), value);
  }
  const Box box(t);
  const std::int64_t h_stride = t.axis[2].span() * 16, d_stride = t.axis[1].span() * h_stride;
  for (std::int64_t p = 0; !box.empty && p < t.planes; ++p)
    for (std::int64_t d = 0; d < box.n[0]; ++d) {
      const std::int64_t local = (p * t.axis[0].span() + t.axis[0].low() + d) * d_stride +
                                 t.axis[1].low() * h_stride + t.axis[2].low() * 16;
      copy_in(target, local * e, src, (element + box.at(p, d, 0)) * e,
              {box.n[1], box.n[2] * 16 * e, box.h_stride * e, h_stride * e});
    }
  if (dtype != DType::F32) cast_in(patch, RegType::F32, staging, dtype, elements);
}

void Core::window(Buffer& acc, const WindowPatch& patch, Buffer* weights, Buffer* bias, const WindowTile& t) {
  const WindowAxis &ad = t.axis[0], &ah = t.axis[1], &aw = t.axis[2];
  const std::int64_t taps = t.taps();
  ATC_CHECK(t.planes * t.pixels() * 64 <= acc.bytes, "window result beyond its UB buffer");
  ATC_CHECK(t.kind != WindowKind::Depthwise || (weights != nullptr && t.planes * taps * 64 <= weights->bytes),
            "window weights beyond their UB buffer");
  ATC_CHECK(bias == nullptr || t.planes * 64 <= bias->bytes, "window bias beyond its UB buffer");
  if (computes()) window_rows(acc, patch, weights, bias, t);
  if (timing_) {
    // An instruction a tap, and one to start from the bias or to divide: for each row of outputs, whose
    // repeats go along it, or for each 256 bytes of the rows of a plane, whose repeats go down, whichever are
    // fewer cycles.
    const std::int64_t across = ceil_div(aw.out * 64, chip_.vector_bytes);
    const bool down = across * (kIssue + ah.out) < ah.out * (kIssue + across);
    const std::int64_t rows = t.planes * ad.out * (down ? across : ah.out);
    const Cycle repeats = down ? ah.out : across;
    const bool divides = t.kind == WindowKind::Average && t.ends();
    const std::int64_t each = taps + (bias != nullptr || divides ? 1 : 0);
    const std::string_view what = t.kind == WindowKind::Max       ? "Max"
                                  : t.kind == WindowKind::Average ? "Add"
                                                                  : "MulAddDst";
    issue(Pipe::V, rows * each * (kIssue + repeats), what, t.planes * t.pixels() * 64,
          {patch.buffer, weights, bias, t.starts() ? nullptr : &acc}, {&acc});
    stats_.instructions += rows * each - 1;
  }
}

void Core::window_rows(Buffer& acc, const WindowPatch& patch, Buffer* weights, Buffer* bias,
                       const WindowTile& t) {
  const WindowAxis &ad = t.axis[0], &ah = t.axis[1], &aw = t.axis[2];
  const WindowTable& table = window_table();
  const auto run = t.kind == WindowKind::Max       ? table.max
                   : t.kind == WindowKind::Average ? table.sum
                                                   : table.depthwise;
  const std::size_t most = static_cast<std::size_t>(ad.kernel * ah.kernel);
  row_pointers_.resize(2 * most);
  WindowRow row;
  row.taps = row_pointers_.data();
  row.weights = row_pointers_.data() + most;
  row.kernel = aw.kernel;
  row.stride = aw.stride;
  row.dilation = aw.dilation;
  row.low = patch.low[2];
  row.high = patch.high[2];
  row.out = aw.out;
  // A later part finds the results where the first one put them.
  row.dst = reinterpret_cast<float*>(t.starts() ? writable(acc) : acc.data);
  row.start_step = t.starts() ? 0 : 16;
  if (t.kind == WindowKind::Average) widened_.resize(static_cast<std::size_t>(aw.out));
  for (std::int64_t p = 0; p < t.planes; ++p) {
    row.start = bias != nullptr ? bias->as<float>() + p * 16 : t.kind == WindowKind::Max ? kLows : kZeros;
    const float* w = t.kind == WindowKind::Depthwise ? weights->as<float>() + p * t.taps() * 16 : nullptr;
    for (std::int64_t d = 0; d < ad.out; ++d)
      for (std::int64_t h = 0; h < ah.out; ++h, row.dst += aw.out * 16) {
        if (!t.starts()) row.start = row.dst;
        std::size_t n = 0;
        for (std::int64_t kd = 0; kd < ad.kernel; ++kd) {
          const std::int64_t pd = d * ad.stride + kd * ad.dilation;
          if (pd < patch.low[0] || pd >= patch.high[0]) continue;
          for (std::int64_t kh = 0; kh < ah.kernel; ++kh) {
            const std::int64_t ph = h * ah.stride + kh * ah.dilation;
            if (ph < patch.low[1] || ph >= patch.high[1]) continue;
            row_pointers_[n] = patch.data + patch.origin + p * patch.plane_stride + pd * patch.d_stride +
                               ph * patch.h_stride;
            row_pointers_[most + n] = w == nullptr ? nullptr : w + (kd * ah.kernel + kh) * aw.kernel * 16;
            ++n;
          }
        }
        row.tap_rows = static_cast<std::int64_t>(n);
        run(row);
        if (t.kind != WindowKind::Average || !t.ends()) continue;
        const std::int64_t rows = ad.counted(d, t.include_pad) * ah.counted(h, t.include_pad);
        for (std::int64_t x = 0; x < aw.out; ++x)
          widened_[static_cast<std::size_t>(x)] =
              static_cast<float>(std::max<std::int64_t>(1, rows * aw.counted(x, t.include_pad)));
        table.divide(row.dst, widened_.data(), aw.out);
      }
  }
}

}  // namespace atc::aicore
