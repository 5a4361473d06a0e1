#include <algorithm>
#include <array>
#include <cstring>

#include "ascendc/instructions.h"
#include "atc/base/math.h"

// L1 to L0A and L0B. A fractal is 512 bytes: 16 rows of 32 bytes.
namespace atc::ascendc {
namespace {

constexpr std::int64_t kFractal = 512, kRow = 32, kRows = 16;

std::int64_t rate(const Block& b, const AtcLocal& dst) {
  return dst.memory == ATC_L0A ? b.chip.l1_to_l0a : b.chip.l1_to_l0b;
}

std::int64_t alignment(std::uint8_t memory) {
  return memory == ATC_L0A || memory == ATC_L0B ? kFractal : kRow;
}

/// One fractal or square block on its way: bytes, and which were written.
struct Tile {
  std::array<std::byte, 2 * kFractal> data{};
  std::array<std::uint8_t, 2 * kFractal> known{};
};

void take(Block& b, const AtcSite& site, const char* what, Pipe pipe, const AtcLoad2d& l, std::int64_t at,
          std::int64_t n, Tile& tile) {
  if (l.src_gm.data != nullptr) {
    b.check_gm(site, what, l.src_gm, at, at + n);
    const auto* from = static_cast<const std::byte*>(l.src_gm.data) + at;
    b.order_gm(site, what, Pipe::MTE2, l.src_gm, {reinterpret_cast<std::uintptr_t>(from), 1, 0, n});
    b.settle(from, n);
    std::memcpy(tile.data.data(), from, static_cast<std::size_t>(n));
    b.log_gm(site, GmUse::Read, from, n);
    tile.known.fill(1);
    return;
  }
  b.check_extent(site, what, l.src, at, at + n);
  std::memcpy(tile.data.data(), b.bytes(l.src, at), static_cast<std::size_t>(n));
  b.touch(site, what, pipe, l.src, at, n, false);
  if (b.checks)
    std::memcpy(tile.known.data(), b.shadow(l.src.memory).states(l.src.offset + at),
                static_cast<std::size_t>(n));
}

void leave(Block& b, const AtcSite& site, const char* what, Pipe pipe, const AtcLocal& dst, std::int64_t at,
           const Tile& tile, std::int64_t from, std::int64_t n) {
  b.check_extent(site, what, dst, at, at + n);
  std::memcpy(b.bytes(dst, at), tile.data.data() + from, static_cast<std::size_t>(n));
  b.touch(site, what, pipe, dst, at, n, true);
  if (b.checks)
    std::memcpy(b.shadow(dst.memory).states(dst.offset + at), tile.known.data() + from,
                static_cast<std::size_t>(n));
}

// The square matrix in a tile, turned. 16-bit: 16 x 16 in a fractal. 8-bit: 32 x 32, fractal r / 16. 32-bit:
// 16 x 16, fractal c / 8.
Tile turned(const Tile& in, std::int64_t size) {
  const std::int64_t side = size == 1 ? 32 : 16;
  auto at = [size](std::int64_t r, std::int64_t c) {
    return size == 4 ? c / 8 * kFractal + r * kRow + c % 8 * 4 : r * kRow + c * size;
  };
  Tile out;
  for (std::int64_t r = 0; r < side; ++r)
    for (std::int64_t c = 0; c < side; ++c) {
      std::memcpy(out.data.data() + at(c, r), in.data.data() + at(r, c), static_cast<std::size_t>(size));
      std::memcpy(out.known.data() + at(c, r), in.known.data() + at(r, c), static_cast<std::size_t>(size));
    }
  return out;
}

}  // namespace

void load2d(Block& b, const AtcSite& site, const AtcLoad2d& l) {
  const char* what = l.square != 0 ? "LoadDataWithTranspose" : "LoadData";
  b.begin_instruction();
  b.require_unit(site, what, true);
  const std::int64_t size = std::max(1, bits_of(l.type) / 8);
  const Pipe pipe = l.src_gm.data != nullptr ? Pipe::MTE2 : Pipe::MTE1;
  b.check_aligned(site, what, l.dst, alignment(l.dst.memory));
  if (l.src_gm.data == nullptr) b.check_aligned(site, what, l.src, kRow);
  if (b.checks && (l.repeat < 1 || l.repeat > 255))
    b.fault(site, "repeat", [&] {
      return std::string(what) + ": repeatTimes " + std::to_string(l.repeat) + ", 1 to 255 are possible";
    });
  if (l.transpose != 0 && l.square == 0 && size != 2)
    b.stop(site, "dtype",
           "LoadData turns 16-bit fractals only: " + std::string(type_name(l.type)) +
               " needs LoadDataWithTranspose");
  const std::int64_t fractals = l.square != 0 && size != 2 ? 2 : 1;
  for (std::int64_t i = 0; i < l.repeat; ++i) {
    const std::int64_t index = l.address_down != 0 ? l.start - i * l.src_stride : l.start + i * l.src_stride;
    Tile tile;
    take(b, site, what, pipe, l, index * kFractal * fractals, kFractal * fractals, tile);
    if (l.transpose != 0) tile = turned(tile, size);
    const std::int64_t first = i * (1 + l.dst_gap) * kFractal;
    for (std::int64_t f = 0; f < fractals; ++f)
      leave(b, site, what, pipe, l.dst, first + f * (1 + l.dst_fractal_gap) * kFractal, tile, f * kFractal,
            kFractal);
  }
  const std::int64_t n = l.repeat * fractals * kFractal;
  const Cycle cycles = pipe == Pipe::MTE2
                           ? b.core.gm_cycles({nullptr, 0, false}, l.repeat, fractals * kFractal, false)
                           : kIssue + ceil_div(n, rate(b, l.dst));
  b.pipes.issue(pipe, cycles, what, n);
}

// Rows are output pixels, columns (c1, kernel row, kernel column, c0); L0A takes them as [m / 16][k /
// C0][16][C0], L0B (16-bit elements) with every fractal turned: pixels are then what is summed over.
void load3d(Block& b, const AtcSite& site, const AtcLoad3d& l) {
  constexpr const char* kWhat = "LoadData (3D)";
  b.begin_instruction();
  b.require_unit(site, kWhat, true);
  const std::int64_t size = std::max(1, bits_of(l.type) / 8), c0 = kRow / size;
  const bool to_b = l.dst.memory == ATC_L0B;
  if ((l.dst.memory != ATC_L0A && !(to_b && size == 2)) || l.transpose != 0 || l.small_k != 0)
    b.stop(site, "unsupported",
           std::string(kWhat) +
               " is simulated to L0A, and to L0B of 16-bit elements, without enTranspose and enSmallK");
  b.check_aligned(site, kWhat, l.dst, kFractal);
  b.check_aligned(site, kWhat, l.src, kRow);
  const std::int64_t eff_h = (l.filter_h - 1) * l.dilation_h + 1, eff_w = (l.filter_w - 1) * l.dilation_w + 1;
  if (l.stride_h == 0 || l.stride_w == 0 || l.height + l.pad[2] + l.pad[3] < eff_h ||
      l.width + l.pad[0] + l.pad[1] < eff_w)
    b.stop(site, "copy-params",
           std::string(kWhat) + ": the filter does not fit the padded feature map, or a stride is 0");
  const std::int64_t out_w = (l.width + l.pad[0] + l.pad[1] - eff_w) / l.stride_w + 1;
  const std::int64_t m_fractals = ceil_div(std::int64_t{l.m_extent}, kRows),
                     k_fractals = ceil_div(std::int64_t{l.k_extent}, c0);
  const std::int64_t taps = std::int64_t{l.filter_h} * l.filter_w;
  b.check_extent(site, kWhat, l.dst, 0, m_fractals * k_fractals * kFractal);
  b.check_extent(site, kWhat, l.src, 0, ceil_div(std::int64_t{l.channels}, c0) * l.height * l.width * kRow);
  for (std::int64_t mf = 0; mf < m_fractals; ++mf)
    for (std::int64_t kf = 0; kf < k_fractals; ++kf)
      for (std::int64_t r = 0; r < kRows; ++r) {
        const std::int64_t pixel = l.m_start + mf * kRows + r, k1 = l.k_start / c0 + kf;
        const std::int64_t tap = k1 % taps, slab = k1 / taps;
        const std::int64_t y = pixel / out_w * l.stride_h - l.pad[2] + tap / l.filter_w * l.dilation_h;
        const std::int64_t x = pixel % out_w * l.stride_w - l.pad[0] + tap % l.filter_w * l.dilation_w;
        const std::int64_t fractal = (mf * k_fractals + kf) * kFractal, at = fractal + r * kRow;
        std::byte* to = b.bytes(l.dst, at);
        const bool inside = y >= 0 && y < l.height && x >= 0 && x < l.width;
        const std::int64_t from = ((slab * l.height + y) * l.width + x) * kRow;
        if (to_b) {
          const bool known =
              !inside || !b.checks || b.shadow(l.src.memory).written(l.src.offset + from, kRow);
          for (std::int64_t c = 0; c < c0; ++c) {
            const std::int64_t turned = fractal + c * kRow + r * size;
            std::memcpy(
                b.bytes(l.dst, turned),
                inside ? b.bytes(l.src, from + c * size) : reinterpret_cast<const std::byte*>(&l.pad_bits),
                static_cast<std::size_t>(size));
            if (b.checks) b.shadow(l.dst.memory).set_written(l.dst.offset + turned, size, known);
          }
          if (inside) b.touch(site, kWhat, Pipe::MTE1, l.src, from, kRow, false);
          continue;
        }
        if (inside) {
          std::memcpy(to, b.bytes(l.src, from), kRow);
          b.touch(site, kWhat, Pipe::MTE1, l.src, from, kRow, false);
        } else {
          for (std::int64_t i = 0; i < kRow; i += size)
            std::memcpy(to + i, &l.pad_bits, static_cast<std::size_t>(size));
        }
        if (b.checks)
          b.shadow(l.dst.memory)
              .set_written(l.dst.offset + at, kRow,
                           !inside || b.shadow(l.src.memory).written(l.src.offset + from, kRow));
      }
  const std::int64_t n = m_fractals * k_fractals * kFractal;
  b.touch(site, kWhat, Pipe::MTE1, l.dst, 0, n, true);
  b.pipes.issue(Pipe::MTE1, kIssue + ceil_div(n, rate(b, l.dst)), "LoadData3D", n);
}

void init_const(Block& b, const AtcSite& site, const AtcInitConst& c) {
  constexpr const char* kWhat = "InitConstValue";
  b.begin_instruction();
  b.require_unit(site, kWhat, true);
  const std::int64_t unit = alignment(c.dst.memory), size = std::max(1, bits_of(c.type) / 8),
                     n = c.blocks * unit;
  b.check_aligned(site, kWhat, c.dst, unit);
  const Pipe pipe = c.dst.memory == ATC_L1 ? Pipe::MTE2 : Pipe::MTE1;
  for (std::int64_t r = 0; r < c.repeat; ++r) {
    const std::int64_t at = r * (n + c.dst_gap * unit);
    b.check_extent(site, kWhat, c.dst, at, at + n);
    for (std::int64_t i = 0; i < n; i += size)
      std::memcpy(b.bytes(c.dst, at + i), &c.bits, static_cast<std::size_t>(size));
    b.touch(site, kWhat, pipe, c.dst, at, n, true);
    if (b.checks) b.shadow(c.dst.memory).set_written(c.dst.offset + at, n);
  }
  b.pipes.issue(pipe, kIssue + ceil_div(n * c.repeat, std::int64_t{256}), kWhat, n * c.repeat);
}

}  // namespace atc::ascendc
