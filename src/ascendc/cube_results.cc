#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ascendc/elements.h"
#include "ascendc/instructions.h"
#include "ascendc/vector_ops.h"
#include "atc/base/math.h"

// Fixpipe: L0C [n / 16][rows][16] to row-major or NZ, with scaling, ReLU and conversion.
namespace atc::ascendc {
namespace {

constexpr const char* kWhat = "Fixpipe";
constexpr std::int64_t kEdge = 16;

bool scaled(std::uint8_t quant) { return quant >= ATC_QUANT_DEQ_F16; }
bool by_column(std::uint8_t quant) {
  return quant == ATC_QUANT_DEQ_F16_VECTOR || quant == ATC_QUANT_REQ_8_VECTOR ||
         quant == ATC_QUANT_F32_8_VECTOR;
}

float scale_of(Block& b, const AtcFixpipe& f, std::int64_t column) {
  if (!scaled(f.quant)) return 1.0f;
  std::uint64_t bits = f.scale;
  if (by_column(f.quant)) std::memcpy(&bits, b.bytes(f.scales, column * 8), 8);
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

void check_types(Block& b, const AtcSite& site, const AtcFixpipe& f) {
  if (!b.checks) return;
  const bool f32 = f.src_type == ATC_F32;
  bool fine = false;
  switch (f.quant) {
    case ATC_QUANT_NONE:
      fine = f.dst_type == f.src_type;
      break;
    case ATC_QUANT_F16:
      fine = f32 && f.dst_type == ATC_F16;
      break;
    case ATC_QUANT_BF16:
      fine = f32 && f.dst_type == ATC_BF16;
      break;
    case ATC_QUANT_DEQ_F16:
    case ATC_QUANT_DEQ_F16_VECTOR:
      fine = f.src_type == ATC_I32 && f.dst_type == ATC_F16;
      break;
    case ATC_QUANT_F32_8:
    case ATC_QUANT_F32_8_VECTOR:
      fine = f32 && (f.dst_type == ATC_I8 || f.dst_type == ATC_U8);
      break;
    default:
      fine = f.src_type == ATC_I32 && (f.dst_type == ATC_I8 || f.dst_type == ATC_U8);
  }
  if (!fine)
    b.fault(site, "dtype", [&] {
      return "Fixpipe from " + std::string(type_name(f.src_type)) + " to " +
             std::string(type_name(f.dst_type)) + " does not go with this quantPre" +
             (f.quant == ATC_QUANT_NONE ? ": set F322F16, F322BF16 or a scaling mode" : "");
    });
}

/// What it writes in Global Memory, `width` columns of `out` bytes in a run.
void order_result(Block& b, const AtcSite& site, Pipe pipe, const AtcFixpipe& f, std::int64_t matrices,
                  std::int64_t width, std::int64_t out) {
  const auto begin = reinterpret_cast<std::uintptr_t>(f.dst.gm.data);
  if (f.row_major == 0) {
    b.order_gm(
        site, kWhat, pipe, f.dst.gm,
        {begin, ceil_div(std::int64_t{f.n}, width), std::int64_t{f.dst_stride} * 32, f.m * width * out});
    return;
  }
  for (std::int64_t q = 0; q < matrices; ++q)
    b.order_gm(site, kWhat, pipe, f.dst.gm,
               {begin + static_cast<std::uintptr_t>(q * f.dst_matrix_stride * out), f.m,
                std::int64_t{f.dst_stride} * out, std::int64_t{f.n} * out});
}

}  // namespace

void fixpipe(Block& b, const AtcSite& site, const AtcFixpipe& f) {
  b.begin_instruction();
  b.require_unit(site, kWhat, true);
  if (f.m == 0 || f.n == 0) return;
  check_types(b, site, f);
  // Chips with one kind of core have no fixpipe: the vector unit takes what is in L0C.
  const Pipe pipe = f.dst.is_gm == 0 && f.dst.local.memory == ATC_UB ? Pipe::V : Pipe::FIX;
  if (pipe == Pipe::V && b.chip.split)
    b.stop(site, "unit",
           std::string(kWhat) + " to the Unified Buffer: " + std::string(b.chip.name) +
               " has it on another core, the result goes through Global Memory");
  // With the unit flag the hardware itself lets Fixpipe follow the product.
  if (f.unit_flag != 0) {
    Cycle at = 0;
    Pipes::Clock clock{};
    b.pipes.snapshot(Pipe::M, at, clock);
    b.pipes.join(pipe, at, clock);
  }
  const std::int64_t in = bits_of(f.src_type) / 8, out = bits_of(f.dst_type) / 8;
  const std::int64_t width = f.row_major != 0                                ? f.n
                             : f.channel_split != 0 && f.dst_type == ATC_F32 ? 8
                             : out == 1                                      ? 32
                                                                             : kEdge;
  const std::int64_t matrices = f.row_major != 0 ? std::max<std::int64_t>(1, f.matrices) : 1;
  b.check_aligned(site, kWhat, f.src, 64);
  if (b.checks && (f.src_stride < f.m || f.src_stride % kEdge != 0))
    b.fault(site, "copy-params", [&] {
      return "Fixpipe: srcStride " + std::to_string(f.src_stride) +
             " must be the rows of L0C, a multiple of 16 not below mSize " + std::to_string(f.m);
    });
  if (by_column(f.quant)) b.check_extent(site, kWhat, f.scales, 0, std::int64_t{f.n} * 8);
  if (f.dst.is_gm != 0) order_result(b, site, pipe, f, matrices, width, out);
  std::vector<std::byte> row;
  std::int64_t moved = 0;
  for (std::int64_t q = 0; q < matrices; ++q)
    for (std::int64_t i = 0; i < f.m; ++i)
      for (std::int64_t j0 = 0; j0 < f.n; j0 += width) {
        // One run of the destination: a whole row, or the 16 columns of a fractal.
        const std::int64_t n = std::min<std::int64_t>(width, f.n - j0);
        row.assign(static_cast<std::size_t>((f.row_major != 0 ? n : width) * out), std::byte{0});
        for (std::int64_t j = j0; j < j0 + n; ++j) {
          const std::int64_t at = (q * f.src_matrix_stride * kEdge * kEdge +
                                   j / kEdge * f.src_stride * kEdge + i * kEdge + j % kEdge) *
                                  in;
          if (j == j0 || j % kEdge == 0) {
            const std::int64_t run = std::min(kEdge - j % kEdge, j0 + n - j) * in;
            b.check_extent(site, kWhat, f.src, at, at + run);
            b.touch(site, kWhat, pipe, f.src, at, run, false);
            b.need_written(site, kWhat, f.src, at, run);
          }
          std::byte* to = row.data() + (j - j0) * out;
          if (f.quant == ATC_QUANT_NONE && f.relu == 0) {
            std::memcpy(to, b.bytes(f.src, at), static_cast<std::size_t>(in));
            continue;
          }
          double v = 0.0;
          with_type(f.src_type, [&]<class T>(T) {
            T x;
            std::memcpy(&x, b.bytes(f.src, at), sizeof x);
            v = static_cast<double>(value_of(x));
          });
          v *= static_cast<double>(scale_of(b, f, j));
          if (f.relu != 0) v = std::max(v, 0.0);
          with_type(f.dst_type, [&]<class T>(T) {
            using A = arithmetic_t<T>;
            T x;
            if constexpr (std::is_integral_v<A>)
              x = static_cast<A>(std::clamp(std::nearbyint(v),
                                            static_cast<double>(std::numeric_limits<A>::min()),
                                            static_cast<double>(std::numeric_limits<A>::max())));
            else
              x = stored<T>(static_cast<A>(v));
            std::memcpy(to, &x, sizeof x);
          });
        }
        const std::int64_t at = f.row_major != 0
                                    ? (q * f.dst_matrix_stride + i * f.dst_stride) * out + j0 * out
                                    : j0 / width * f.dst_stride * 32 + i * width * out;
        const auto bytes = static_cast<std::int64_t>(row.size());
        moved += bytes;
        if (f.dst.is_gm != 0) {
          b.check_gm(site, kWhat, f.dst.gm, at, at + bytes);
          std::byte* to = static_cast<std::byte*>(f.dst.gm.data) + at;
          if (b.atomic == ATC_ATOMIC_NONE) {
            b.settle(to, bytes);
            std::memcpy(to, row.data(), row.size());
          } else {
            combine(b, to, row.data(), bytes / (bits_of(b.atomic_type) / 8));
          }
          b.log_gm(site, b.atomic == ATC_ATOMIC_NONE ? GmUse::Write : GmUse::Atomic, to, bytes);
        } else {
          b.check_extent(site, kWhat, f.dst.local, at, at + bytes);
          std::memcpy(b.bytes(f.dst.local, at), row.data(), row.size());
          b.touch(site, kWhat, pipe, f.dst.local, at, bytes, true);
          if (b.checks) b.shadow(f.dst.local.memory).set_written(f.dst.local.offset + at, bytes);
        }
      }
  const Cycle through =
      ceil_div(matrices * f.m * round_up(std::int64_t{f.n}, kEdge) * in, std::int64_t{b.chip.l0c_out});
  const Cycle gm =
      f.dst.is_gm != 0
          ? b.core.gm_cycles({nullptr, 0, false},
                             f.row_major != 0 ? matrices * f.m : ceil_div(std::int64_t{f.n}, width),
                             f.row_major != 0 ? std::int64_t{f.n} * out : f.m * width * out, true)
          : 0;
  b.pipes.issue(pipe, kIssue + std::max(through, gm), kWhat, moved);
}

}  // namespace atc::ascendc
