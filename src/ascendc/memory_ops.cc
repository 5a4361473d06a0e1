#include <algorithm>
#include <cstring>

#include "ascendc/elements.h"
#include "ascendc/host_copy.h"
#include "ascendc/instructions.h"
#include "atc/base/math.h"

namespace atc::ascendc {
namespace {

constexpr std::int64_t kBlock = 32;
constexpr std::int64_t kMaxBlocks = 4095;
constexpr std::int64_t kMaxPadBytes = 2097151;
/// Bytes a cycle between UB and L1.
constexpr std::int64_t kL1Rate = 128;
constexpr Cycle kScalarAccess = 2, kScalarGm = 25;

/// Rows of a copy: where they begin on each side and how long they are.
struct Rows {
  std::int64_t count = 0, bytes = 0;   ///< moved
  std::int64_t dst_row = 0;            ///< written, padding included
  std::int64_t left = 0, pad_end = 0;  ///< bytes before the data; end of the defined padding
  std::int64_t src_pitch = 0, dst_pitch = 0;
  std::int64_t src_span() const { return (count - 1) * src_pitch + bytes; }
  std::int64_t dst_span() const { return (count - 1) * dst_pitch + dst_row; }
};

Pipe pipe_of(const AtcCopy& c) {
  if (c.src.is_gm) return Pipe::MTE2;
  if (c.dst.is_gm) return Pipe::MTE3;
  if (c.src.local.memory == ATC_UB) return c.dst.local.memory == ATC_UB ? Pipe::V : Pipe::MTE3;
  return c.src.local.memory == ATC_L0C ? Pipe::V : Pipe::MTE1;
}

const char* name_of(const AtcCopy& c) { return c.form == ATC_COPY_PAD ? "DataCopyPad" : "DataCopy"; }

// What the instruction moves; reports what its form does not allow.
Rows rows_of(Block& b, const AtcSite& site, const AtcCopy& c) {
  Rows r;
  const std::int64_t element = std::max(1, bits_of(c.type) / 8);
  r.count = c.block_count;
  r.bytes = c.block_bytes;
  if (c.form == ATC_COPY_COUNT) {
    const std::int64_t lost = r.bytes % kBlock;
    if (lost != 0 && b.checks)
      b.fault(site, "copy-length", [&] {
        return "DataCopy of " + std::to_string(c.elements) + " elements of " +
               std::string(type_name(c.type)) + " is " + std::to_string(r.bytes) +
               " bytes: DataCopy moves blocks of 32 bytes, the last " + std::to_string(lost) + " bytes (" +
               std::to_string(lost / element) + " elements) are dropped. " +
               b.describe(c.src.is_gm ? c.dst.local : c.src.local) + ". Use DataCopyPad, or a multiple of " +
               std::to_string(kBlock / element) + " elements";
      });
    r.bytes -= lost;
  }
  if (b.checks && r.count > kMaxBlocks)
    b.fault(site, "copy-params", [&] {
      return std::string(name_of(c)) + ": blockCount " + std::to_string(r.count) + " is above 4095";
    });
  r.dst_row = r.bytes;
  r.pad_end = r.bytes;
  if (c.form == ATC_COPY_PAD) {
    if (b.checks && (r.bytes > kMaxPadBytes || r.bytes % element != 0))
      b.fault(site, "copy-params", [&] {
        return "DataCopyPad: blockLen " + std::to_string(r.bytes) +
               " bytes must be a multiple of the element's " + std::to_string(element) +
               " bytes, at most 2097151";
      });
    if (!c.dst.is_gm) {
      if (b.checks && (c.left_pad * element > kBlock || c.right_pad * element > kBlock))
        b.fault(site, "copy-params", [&] {
          return "DataCopyPad: padding of " + std::to_string(c.left_pad) + " and " +
                 std::to_string(c.right_pad) + " elements is more than 32 bytes on a side";
        });
      r.left = c.is_pad ? c.left_pad * element : 0;
      const std::int64_t right = c.is_pad ? c.right_pad * element : 0;
      r.dst_row = round_up(r.left + r.bytes + right, kBlock);
      r.pad_end = c.is_pad ? r.dst_row : r.left + r.bytes;
    }
    r.src_pitch = (c.src.is_gm ? r.bytes : round_up(r.bytes, kBlock)) + c.src_gap;
    r.dst_pitch = r.dst_row + c.dst_gap;
  } else {
    r.src_pitch = r.bytes + c.src_gap;
    r.dst_pitch = r.bytes + c.dst_gap;
  }
  // Rows without gaps are one stretch.
  if (r.count > 1 && r.src_pitch == r.bytes && r.dst_pitch == r.bytes && r.dst_row == r.bytes) {
    r.bytes *= r.count;
    r.dst_row = r.pad_end = r.src_pitch = r.dst_pitch = r.bytes;
    r.count = 1;
  }
  return r;
}

void into_local(Block& b, const AtcSite& site, const AtcCopy& c, const Rows& r, const std::byte* from,
                Pipe pipe) {
  const AtcLocal& t = c.dst.local;
  b.check_extent(site, name_of(c), t, 0, r.dst_span());
  b.check_aligned(site, name_of(c), t, kBlock);
  std::byte* to = b.bytes(t);
  const int element = std::max(1, bits_of(c.type) / 8);
  for (std::int64_t i = 0; i < r.count; ++i) {
    std::byte* row = to + i * r.dst_pitch;
    if (c.src.is_gm)
      copy_from_global(row + r.left, from + i * r.src_pitch, r.bytes);
    else
      std::memmove(row + r.left, from + i * r.src_pitch, static_cast<std::size_t>(r.bytes));
    for (std::int64_t at = 0; at < r.left; at += element)
      std::memcpy(row + at, &c.pad_bits, static_cast<std::size_t>(element));
    for (std::int64_t at = r.left + r.bytes; at < r.pad_end; at += element)
      std::memcpy(row + at, &c.pad_bits, static_cast<std::size_t>(element));
    if (!b.checks) continue;
    b.touch(site, name_of(c), pipe, t, i * r.dst_pitch, r.dst_row, true);
    Shadow& shadow = b.shadow(t.memory);
    const std::int64_t row_offset = t.offset + i * r.dst_pitch;
    if (c.src.is_gm) {
      shadow.set_written(row_offset, r.pad_end);
    } else {
      std::memmove(shadow.states(row_offset),
                   b.shadow(c.src.local.memory).states(c.src.local.offset + i * r.src_pitch),
                   static_cast<std::size_t>(r.bytes));
    }
    // What fills up the last block is not defined.
    std::memset(row + r.pad_end, 0xff, static_cast<std::size_t>(r.dst_row - r.pad_end));
    shadow.set_written(row_offset + r.pad_end, r.dst_row - r.pad_end, false);
  }
}

void into_global(Block& b, const AtcSite& site, const AtcCopy& c, const Rows& r) {
  b.check_gm(site, name_of(c), c.dst.gm, 0, r.dst_span());
  const std::byte* from = b.bytes(c.src.local);
  auto* to = static_cast<std::byte*>(c.dst.gm.data);
  b.order_gm(site, name_of(c), pipe_of(c), c.dst.gm,
             {reinterpret_cast<std::uintptr_t>(to), r.count, r.dst_pitch, r.bytes});
  if (b.atomic == ATC_ATOMIC_NONE) b.settle(to, r.dst_span());
  const std::int64_t element = std::max(1, bits_of(b.atomic_type) / 8);
  for (std::int64_t i = 0; i < r.count; ++i) {
    std::byte* row = to + i * r.dst_pitch;
    if (b.checks) b.need_written(site, name_of(c), c.src.local, i * r.src_pitch, r.bytes);
    if (b.atomic == ATC_ATOMIC_NONE)
      copy_to_global(row, from + i * r.src_pitch, r.bytes);
    else
      combine(b, row, from + i * r.src_pitch, r.bytes / element);
    b.log_gm(site, b.atomic == ATC_ATOMIC_NONE ? GmUse::Write : GmUse::Atomic, row, r.bytes);
  }
  if (b.checks && b.atomic != ATC_ATOMIC_NONE && bits_of(b.atomic_type) != bits_of(c.type))
    b.fault(site, "atomic-type", [&] {
      return std::string(name_of(c)) + " of " + std::string(type_name(c.type)) +
             " while the atomic mode is for " + std::string(type_name(b.atomic_type)) + " (" +
             place(b.atomic_site) + ")";
    });
}

}  // namespace

void copy(Block& b, const AtcSite& site, const AtcCopy& c) {
  b.begin_instruction();
  const char* what = name_of(c);
  const Pipe pipe = pipe_of(c);
  const AtcLocal& local = c.src.is_gm || !c.dst.is_gm ? c.dst.local : c.src.local;
  b.require_unit(site, what, local.memory != ATC_UB);
  if (c.form == ATC_COPY_PAD && b.checks && (b.npu_arch == 1001 || b.npu_arch == 2002))
    b.fault(site, "unit", [&] {
      return "DataCopyPad does not exist on " + std::string(b.chip.name) + ": use DataCopy over whole blocks";
    });
  const Rows r = rows_of(b, site, c);
  if (r.count <= 0 || r.bytes <= 0) return;
  std::int64_t cycles = 0;
  if (c.src.is_gm) {
    const GmRange& range = b.check_gm(site, what, c.src.gm, 0, r.src_span());
    const auto* from = static_cast<const std::byte*>(c.src.gm.data);
    b.settle(from, r.src_span());
    int dirty = 0;
    if (b.checks && b.gm_log.dirty(from, r.src_span(), &dirty))
      b.warn(site, "cache", [&] {
        return std::string(what) + " reads " + b.describe(c.src.gm) + ", where the scalar store of " +
               place(b.site_of(dirty)) + " is still in the data cache: DataCacheCleanAndInvalid is missing";
      });
    b.order_gm(site, what, pipe, c.src.gm,
               {reinterpret_cast<std::uintptr_t>(from), r.count, r.src_pitch, r.bytes});
    into_local(b, site, c, r, from, pipe);
    for (std::int64_t i = 0; i < r.count; ++i) b.log_gm(site, GmUse::Read, from + i * r.src_pitch, r.bytes);
    cycles = b.core.gm_cycles({nullptr, range.bytes, false}, r.count, r.bytes, false);
  } else {
    b.check_extent(site, what, c.src.local, 0, r.src_span());
    b.check_aligned(site, what, c.src.local, kBlock);
    if (b.checks)
      for (std::int64_t i = 0; i < r.count; ++i)
        b.touch(site, what, pipe, c.src.local, i * r.src_pitch, r.bytes, false);
    if (c.dst.is_gm) {
      into_global(b, site, c, r);
      cycles = b.core.gm_cycles({nullptr, 0, false}, r.count, r.bytes, true);
    } else {
      into_local(b, site, c, r, b.bytes(c.src.local), pipe);
      cycles =
          kIssue + ceil_div(r.bytes * r.count, pipe == Pipe::V ? std::int64_t{b.chip.vector_bytes} : kL1Rate);
    }
  }
  b.pipes.issue(pipe, cycles, what, r.bytes * r.count);
}

// [matrix][row][col] in Global Memory to [matrix][col / C0][row][C0] in L1.
void nd2nz(Block& b, const AtcSite& site, const AtcNd2Nz& c) {
  b.begin_instruction();
  constexpr const char* kWhat = "DataCopy (ND to NZ)";
  b.require_unit(site, kWhat, c.dst.memory != ATC_UB);
  if (c.matrices == 0 || c.rows == 0 || c.cols == 0) return;
  const std::int64_t element = bits_of(c.type) / 8, c0 = kBlock / element;
  const std::int64_t slabs = ceil_div(std::int64_t{c.cols}, c0);
  if (b.checks && (c.rows > 16384 || c.cols > 65535 || c.dst_c0_stride > 16384 || c.dst_c0_stride < 1))
    b.fault(site, "copy-params", [&] {
      return std::string(kWhat) + ": nValue " + std::to_string(c.rows) + " (at most 16384), dValue " +
             std::to_string(c.cols) + " (at most 65535), dstNzC0Stride " + std::to_string(c.dst_c0_stride) +
             " (1 to 16384)";
    });
  const std::int64_t last_row =
      static_cast<std::int64_t>((c.matrices - 1) * c.src_matrix_stride + (c.rows - 1) * c.src_row_stride);
  b.check_gm(site, kWhat, c.src, 0, (last_row + c.cols) * element);
  b.settle(c.src.data, (last_row + c.cols) * element);
  const std::int64_t dst_end =
      static_cast<std::int64_t>((c.matrices - 1) * c.dst_matrix_stride) * element +
      ((slabs - 1) * c.dst_c0_stride + std::int64_t{c.rows - 1} * c.dst_row_stride + 1) * kBlock;
  b.check_extent(site, kWhat, c.dst, 0, dst_end);
  b.check_aligned(site, kWhat, c.dst, kBlock);
  for (std::uint32_t m = 0; m < c.matrices; ++m) {
    const auto first =
        reinterpret_cast<std::uintptr_t>(c.src.data) +
        static_cast<std::uintptr_t>(m * c.src_matrix_stride) * static_cast<std::size_t>(element);
    b.order_gm(site, kWhat, Pipe::MTE2, c.src,
               {first, c.rows, static_cast<std::int64_t>(c.src_row_stride) * element, c.cols * element});
    for (std::uint32_t r = 0; r < c.rows; ++r) {
      const std::byte* from =
          static_cast<const std::byte*>(c.src.data) +
          static_cast<std::int64_t>(m * c.src_matrix_stride + r * c.src_row_stride) * element;
      b.log_gm(site, GmUse::Read, from, c.cols * element);
      for (std::int64_t s = 0; s < slabs; ++s) {
        const std::int64_t at = static_cast<std::int64_t>(m * c.dst_matrix_stride) * element +
                                (s * c.dst_c0_stride + std::int64_t{r} * c.dst_row_stride) * kBlock;
        const std::int64_t n = std::min<std::int64_t>(c0, c.cols - s * c0) * element;
        std::byte* to = b.bytes(c.dst, at);
        std::memcpy(to, from + s * kBlock, static_cast<std::size_t>(n));
        std::memset(to + n, 0, static_cast<std::size_t>(kBlock - n));
        b.touch(site, kWhat, Pipe::MTE2, c.dst, at, kBlock, true);
        if (b.checks) b.shadow(c.dst.memory).set_written(c.dst.offset + at, kBlock);
      }
    }
  }
  const std::int64_t rows = std::int64_t{c.matrices} * c.rows;
  b.pipes.issue(Pipe::MTE2, b.core.gm_cycles({nullptr, 0, false}, rows, c.cols * element, false),
                "DataCopyNd2Nz", rows * c.cols * element);
}

void fill_global(Block& b, const AtcSite& site, const AtcGm& gm, std::uint64_t elements, std::uint8_t type,
                 std::uint64_t bits) {
  b.begin_instruction();
  const std::int64_t element = bits_of(type) / 8, n = static_cast<std::int64_t>(elements) * element;
  if (n <= 0) return;
  b.check_gm(site, "InitOutput", gm, 0, n);
  auto* to = static_cast<std::byte*>(gm.data);
  b.order_gm(site, "InitOutput", Pipe::MTE3, gm, {reinterpret_cast<std::uintptr_t>(to), 1, 0, n});
  b.settle(to, n);
  for (std::int64_t at = 0; at < n; at += element)
    std::memcpy(to + at, &bits, static_cast<std::size_t>(element));
  b.log_gm(site, GmUse::Write, to, n);
  b.pipes.issue(Pipe::MTE3, b.core.gm_cycles({nullptr, 0, false}, 1, n, true), "InitOutput", n);
}

std::uint64_t load_local(Block& b, const AtcSite& site, const AtcLocal& t, std::int64_t offset,
                         std::int64_t n) {
  b.begin_instruction();
  b.check_extent(site, "GetValue", t, offset, offset + n);
  std::uint64_t bits = 0;
  std::memcpy(&bits, b.bytes(t, offset), static_cast<std::size_t>(n));
  b.touch(site, "GetValue", Pipe::S, t, offset, n, false);
  b.need_written(site, "GetValue", t, offset, n);
  b.pipes.scalar(kScalarAccess);
  return bits;
}

void store_local(Block& b, const AtcSite& site, const AtcLocal& t, std::int64_t offset, std::int64_t n,
                 std::uint64_t bits) {
  b.begin_instruction();
  b.check_extent(site, "SetValue", t, offset, offset + n);
  std::memcpy(b.bytes(t, offset), &bits, static_cast<std::size_t>(n));
  if (b.checks) {
    b.touch(site, "SetValue", Pipe::S, t, offset, n, true);
    b.shadow(t.memory).set_written(t.offset + offset, n);
  }
  b.pipes.scalar(kScalarAccess);
}

std::uint64_t load_global(Block& b, const AtcSite& site, const AtcGm& gm, std::int64_t offset,
                          std::int64_t n) {
  b.check_gm(site, "GetValue", gm, offset, offset + n);
  const std::byte* from = static_cast<const std::byte*>(gm.data) + offset;
  b.settle(from, n);
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<std::size_t>(n));
  b.log_gm(site, GmUse::Read, from, n);
  b.pipes.scalar(kScalarGm, "GetValue");
  return bits;
}

void store_global(Block& b, const AtcSite& site, const AtcGm& gm, std::int64_t offset, std::int64_t n,
                  std::uint64_t bits) {
  b.begin_instruction();
  b.check_gm(site, "SetValue", gm, offset, offset + n);
  std::byte* to = static_cast<std::byte*>(gm.data) + offset;
  b.settle(to, n);
  std::memcpy(to, &bits, static_cast<std::size_t>(n));
  b.log_gm(site, GmUse::ScalarWrite, to, n);
  b.pipes.scalar(kScalarAccess, "SetValue");
}

}  // namespace atc::ascendc
