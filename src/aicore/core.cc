#include "aicore/core.h"

#include <algorithm>
#include <cstring>

#include "aicore/burst_cost.h"
#include "atc/base/check.h"
#include "atc/base/math.h"

namespace atc::aicore {
namespace {

// Modelled constants, in cycles: issue of one instruction on its pipe, and the latency that the first
// access to Global Memory adds. GM moves whole bursts (burst_cost.h; programming guide: 512-byte
// aligned transfers are best, 16 KiB are needed for full bandwidth).
constexpr Cycle kIssue = 8;
constexpr Cycle kGmLatency = 200;

// L1 takes widened copies in Fast mode: up to four bytes for each stored one.
constexpr std::int64_t kFastL1Widening = 4;

std::int64_t alignment(Memory m) {
  switch (m) {
    case Memory::L0A:
    case Memory::L0B:
      return 512;
    case Memory::L0C:
      return 1024;
    default:
      return 32;
  }
}

}  // namespace

std::string_view name(Pipe p) {
  constexpr std::string_view kNames[] = {"SCALAR", "VECTOR", "CUBE", "MTE1", "MTE2", "MTE3", "FIXP"};
  return kNames[static_cast<std::size_t>(p)];
}

std::string_view name(Memory m) {
  constexpr std::string_view kNames[] = {"UB", "L1", "L0A", "L0B", "L0C"};
  return kNames[static_cast<std::size_t>(m)];
}

Core::Core(const soc::Chip& chip, Values values, bool timing)
    : chip_(chip), values_(values), timing_(timing) {
  const std::int64_t capacity[kMemoryCount] = {chip.ub, chip.l1, chip.l0a, chip.l0b, chip.l0c};
  std::int64_t total = 0;
  std::int64_t host_bytes[kMemoryCount];
  for (int m = 0; m < kMemoryCount; ++m) {
    host_bytes[m] = m == static_cast<int>(Memory::L1) ? capacity[m] * kFastL1Widening : capacity[m];
    total += host_bytes[m];
  }
  if (computes()) host_ = MutableBytes(static_cast<std::size_t>(total));
  std::byte* at = host_.data();
  for (int m = 0; m < kMemoryCount; ++m) {
    arenas_[static_cast<std::size_t>(m)] = {capacity[m], 0, at};
    if (at != nullptr) at += host_bytes[m];
  }
}

Core::~Core() = default;

void Core::start_block(int active_cores) {
  active_cores_ = std::max(active_cores, 1);
  for (Arena& arena : arenas_) arena.used = 0;
  buffers_used_ = 0;
  scratch_.reset();
  pipe_free_ = {};
  stats_ = {};
  sync_ = nullptr;
  fusing_ = false;
  fused_duration_ = fused_bytes_ = 0;
  fused_reads_.clear();
  fused_writes_.clear();
}

Stats Core::stats() const {
  Stats s = stats_;
  s.cycles = *std::max_element(pipe_free_.begin(), pipe_free_.end());
  return s;
}

Buffer& Core::alloc(Memory memory, std::int64_t bytes) {
  Arena& arena = arenas_[static_cast<std::size_t>(memory)];
  const std::int64_t size = round_up(std::max<std::int64_t>(bytes, 1), alignment(memory));
  ATC_CHECK(bytes >= 0 && size <= arena.capacity - arena.used,
            std::string(name(memory)) + " overflow on " + std::string(chip_.name) + ": a tile asks for " +
                std::to_string(bytes) + " bytes, " + std::to_string(arena.capacity - arena.used) + " of " +
                std::to_string(arena.capacity) + " are free");
  if (buffers_used_ == buffers_.size()) buffers_.push_back(std::make_unique<Buffer>());
  Buffer& buffer = *buffers_[buffers_used_++];
  const std::int64_t scale = memory == Memory::L1 ? kFastL1Widening : 1;
  std::byte* own = arena.base == nullptr ? nullptr : arena.base + arena.used * scale;
  buffer = Buffer{memory, arena.used, size, own, own, nullptr, 0, 0};
  arena.used += size;
  return buffer;
}

std::int64_t Core::available(Memory memory) const {
  const Arena& arena = arenas_[static_cast<std::size_t>(memory)];
  return arena.capacity - arena.used;
}

void Core::end_fused(std::string_view what) {
  fusing_ = false;
  if (!fused_writes_.empty())
    issue(Pipe::V, fused_duration_, what, fused_bytes_, fused_reads_, fused_writes_);
  fused_duration_ = fused_bytes_ = 0;
  fused_reads_.clear();
  fused_writes_.clear();
}

void Core::issue(Pipe pipe, Cycle duration, std::string_view what, std::int64_t bytes,
                 std::initializer_list<Buffer*> reads, std::initializer_list<Buffer*> writes) {
  issue(pipe, duration, what, bytes, std::span(reads.begin(), reads.size()),
        std::span(writes.begin(), writes.size()));
}

void Core::issue(Pipe pipe, Cycle duration, std::string_view what, std::int64_t bytes,
                 std::span<Buffer* const> reads, std::span<Buffer* const> writes) {
  if (fusing_ && pipe == Pipe::V) {
    fused_duration_ = std::max(fused_duration_, duration);
    fused_bytes_ = std::max(fused_bytes_, bytes);
    fused_reads_.insert(fused_reads_.end(), reads.begin(), reads.end());
    fused_writes_.insert(fused_writes_.end(), writes.begin(), writes.end());
    return;
  }
  Cycle start = pipe_free_[static_cast<std::size_t>(pipe)];
  for (const Buffer* b : reads)
    if (b != nullptr) start = std::max(start, b->written);
  for (const Buffer* b : writes) start = std::max({start, b->written, b->read});
  const Cycle end = start + duration;
  for (Buffer* b : reads)
    if (b != nullptr) b->read = std::max(b->read, end);
  for (Buffer* b : writes) b->written = end;
  pipe_free_[static_cast<std::size_t>(pipe)] = end;
  stats_.busy[static_cast<std::size_t>(pipe)] += duration;
  ++stats_.instructions;
  if (trace_ != nullptr) trace_->push_back({pipe, what, start, end, bytes});
}

void Core::scalar(Cycle cycles) {
  if (timing_) issue(Pipe::S, cycles, "Scalar", 0, {}, {});
}

Cycle Core::book(Pipe pipe, Cycle duration, std::string_view what, std::int64_t bytes, Cycle after) {
  Cycle& free = pipe_free_[static_cast<std::size_t>(pipe)];
  free = std::max(free, after);
  issue(pipe, duration, what, bytes, {}, {});
  return free;
}

void Core::cross_core_set_flag(int flag, Pipe pipe, FlagReach reach) {
  ATC_CHECK(flag >= 0 && flag < kSyncAllFlag, "cross-core flag " + std::to_string(flag) + ", 0 to 10 exist");
  ATC_CHECK(sync_ != nullptr, "cross-core flag in a task whose blocks run one by one");
  if (timing_) issue(pipe, kIssue, "CrossCoreSetFlag", 0, {}, {});
  sync_->set(flag, reach, pipe_free_[static_cast<std::size_t>(pipe)]);
}

void Core::cross_core_wait_flag(int flag) {
  ATC_CHECK(flag >= 0 && flag < kSyncAllFlag, "cross-core flag " + std::to_string(flag) + ", 0 to 10 exist");
  ATC_CHECK(sync_ != nullptr, "cross-core flag in a task whose blocks run one by one");
  wait_for_blocks(flag, "CrossCoreWaitFlag");
}

void Core::sync_all(FlagReach reach) {
  ATC_CHECK(sync_ != nullptr, "SyncAll in a task whose blocks run one by one");
  sync_->set(kSyncAllFlag, reach, *std::max_element(pipe_free_.begin(), pipe_free_.end()));
  wait_for_blocks(kSyncAllFlag, "SyncAll");
}

void Core::wait_for_blocks(int flag, std::string_view what) {
  const Cycle release = sync_->wait(flag);
  if (!timing_) return;
  const Cycle begin = pipe_free_[static_cast<std::size_t>(Pipe::S)];
  for (Cycle& free : pipe_free_) free = std::max(free, release);
  if (trace_ != nullptr) trace_->push_back({Pipe::S, what, begin, release, 0});
}

Cycle Core::gm_cycles(const Gm& gm, std::int64_t blocks, std::int64_t block_bytes, bool write) const {
  if (gm.moved != nullptr) *gm.moved += blocks * block_bytes;
  // All bytes pass L2; some of them must be fetched or written back. On each of the two ways a core moves no
  // more than its own port does, and no more than its share of what the whole chip does. (MODEL.md)
  // L2 is entered by whole bursts; what is beyond it moves in whole lines that neighbours share.
  const std::int64_t moved = blocks * round_up(block_bytes, kBurst);
  const std::int64_t far =
      gm.in_l2 ? 0 : ceil_div(blocks * block_bytes * gm.ddr_permille, std::int64_t{1000});
  const std::int64_t all_cores = std::int64_t{chip_.cube_cores} * (write ? chip_.l2_write : chip_.l2_read);
  const Cycle transfer =
      std::max({ceil_div(moved, std::int64_t{write ? chip_.ub_write_l2 : chip_.l2_read}),
                ceil_div(moved * active_cores_, all_cores),
                ceil_div(far, std::int64_t{write ? chip_.ub_write_ddr : chip_.ddr_read}),
                ceil_div(far * active_cores_ * chip_.cube_mhz, std::int64_t{chip_.gm_mbps})});
  return kIssue + kGmLatency / 8 + transfer + blocks / 4;
}

void Core::check_gm(const Gm& gm, std::int64_t offset, std::int64_t bytes) const {
  ATC_CHECK(offset >= 0 && bytes >= 0 && offset <= gm.bytes && bytes <= gm.bytes - offset,
            "Global Memory access outside its operand: offset " + std::to_string(offset) + ", " +
                std::to_string(bytes) + " bytes of " + std::to_string(gm.bytes));
}

namespace {

// Both ends of a burst list, whatever the sign of the stride.
struct Extent {
  std::int64_t low, size;
};
Extent extent(std::int64_t offset, std::int64_t count, std::int64_t bytes, std::int64_t stride) {
  const std::int64_t span = (count - 1) * stride;
  const std::int64_t low = offset + std::min<std::int64_t>(span, 0);
  return {low, std::abs(span) + bytes};
}

void move(std::byte* dst, const std::byte* src, const Burst& b, bool to_local) {
  const std::int64_t ds = to_local ? b.local_stride : b.gm_stride;
  const std::int64_t ss = to_local ? b.gm_stride : b.local_stride;
  if (b.count > 1 && ds == b.bytes && ss == b.bytes) {
    std::memcpy(dst, src, static_cast<std::size_t>(b.count * b.bytes));
    return;
  }
  for (std::int64_t i = 0; i < b.count; ++i)
    std::memcpy(dst + i * ds, src + i * ss, static_cast<std::size_t>(b.bytes));
}

}  // namespace

void Core::copy_in(Buffer& dst, std::int64_t dst_offset, const Gm& src, std::int64_t src_offset,
                   Burst burst) {
  if (burst.count <= 0 || burst.bytes <= 0) return;
  const Extent gm = extent(src_offset, burst.count, burst.bytes, burst.gm_stride);
  check_gm(src, gm.low, gm.size);
  const Extent local = extent(dst_offset, burst.count, burst.bytes, burst.local_stride);
  ATC_CHECK(local.low >= 0 && local.low + local.size <= dst.bytes,
            "DataCopy beyond its buffer: " + std::to_string(local.low + local.size) + " of " +
                std::to_string(dst.bytes) + " bytes");
  const bool contiguous =
      burst.count == 1 || (burst.gm_stride == burst.bytes && burst.local_stride == burst.bytes);
  dst.pending = nullptr;
  if (values_ == Values::Fast && contiguous && dst_offset == 0) {
    dst.data = src.data + src_offset;
  } else if (computes()) {
    // A buffer is filled from its start; joining a part to an alias would lose the alias.
    ATC_CHECK(dst_offset == 0 || dst.data == dst.own, "DataCopy joins a part to an aliased buffer");
    dst.data = dst.own;
    move(dst.own + dst_offset, src.data + src_offset, burst, true);
  }
  if (timing_) {
    const std::int64_t blocks = contiguous ? 1 : burst.count;
    const std::int64_t bytes = contiguous ? burst.bytes * burst.count : burst.bytes;
    stats_.gm_read += burst.bytes * burst.count;
    issue(Pipe::MTE2, gm_cycles(src, blocks, bytes, false), "DataCopy", burst.bytes * burst.count, {},
          {&dst});
  }
}

void Core::copy_out(const Gm& dst, std::int64_t dst_offset, Buffer& src, std::int64_t src_offset,
                    Burst burst) {
  if (burst.count <= 0 || burst.bytes <= 0) return;
  const Extent gm = extent(dst_offset, burst.count, burst.bytes, burst.gm_stride);
  check_gm(dst, gm.low, gm.size);
  const Extent local = extent(src_offset, burst.count, burst.bytes, burst.local_stride);
  ATC_CHECK(local.low >= 0 && local.low + local.size <= src.bytes,
            "DataCopy from beyond its buffer: " + std::to_string(local.low + local.size) + " of " +
                std::to_string(src.bytes) + " bytes");
  if (computes()) {
    const std::byte* from = src.data + src_offset;
    std::byte* to = dst.data + dst_offset;
    if (from != to) move(to, from, burst, false);
  }
  if (timing_) {
    const bool contiguous =
        burst.count == 1 || (burst.gm_stride == burst.bytes && burst.local_stride == burst.bytes);
    const std::int64_t blocks = contiguous ? 1 : burst.count;
    const std::int64_t bytes = contiguous ? burst.bytes * burst.count : burst.bytes;
    stats_.gm_written += burst.bytes * burst.count;
    issue(Pipe::MTE3, gm_cycles(dst, blocks, bytes, true), "DataCopy", burst.bytes * burst.count, {&src}, {});
  }
}

void Core::alias_out(Buffer& buffer, const Gm& dst, std::int64_t dst_offset, std::int64_t bytes) {
  check_gm(dst, dst_offset, bytes);
  if (values_ != Values::Fast) return;
  buffer.pending = dst.data + dst_offset;
}

std::int64_t Core::read_scalar(const Gm& src, std::int64_t element, DType dtype) {
  const std::int64_t size = dtype == DType::I64 ? 8 : 4;
  check_gm(src, element * size, size);
  if (timing_) issue(Pipe::S, kGmLatency / 8, "GetValue", size, {}, {});
  if (!computes()) return 0;
  if (dtype == DType::I64) {
    std::int64_t v = 0;
    std::memcpy(&v, src.data + element * size, sizeof v);
    return v;
  }
  std::int32_t v = 0;
  std::memcpy(&v, src.data + element * size, sizeof v);
  return v;
}

void Core::fill(Buffer& dst, std::int64_t offset, std::int64_t count, int bytes_each, const void* value) {
  ATC_CHECK(offset >= 0 && offset + count * bytes_each <= dst.bytes, "Duplicate beyond its buffer");
  if (computes()) {
    std::byte* p = writable(dst) + offset;
    bool zero = true;
    for (int i = 0; i < bytes_each; ++i)
      zero = zero && static_cast<const std::byte*>(value)[i] == std::byte{0};
    if (zero) {
      std::memset(p, 0, static_cast<std::size_t>(count * bytes_each));
    } else if (bytes_each == 4) {
      std::uint32_t v = 0;
      std::memcpy(&v, value, sizeof v);
      std::fill_n(reinterpret_cast<std::uint32_t*>(p), count, v);
    } else {
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(p + i * bytes_each, value, static_cast<std::size_t>(bytes_each));
    }
  }
  if (timing_)
    issue(Pipe::V, kIssue + ceil_div(count * bytes_each, chip_.vector_bytes), "Duplicate", count * bytes_each,
          {}, {&dst});
}

void Core::copy_ub(Buffer& dst, std::int64_t dst_offset, Buffer& src, std::int64_t src_offset,
                   int element_bytes, std::int64_t rows, std::int64_t cols, std::int64_t dst_row_stride,
                   std::int64_t src_row_stride, std::int64_t src_col_stride, std::int64_t dst_col_stride) {
  if (rows <= 0 || cols <= 0) return;
  const std::int64_t e = element_bytes;
  const std::int64_t dst_span = ((rows - 1) * dst_row_stride + (cols - 1) * dst_col_stride + 1) * e;
  ATC_CHECK(dst_offset >= 0 && dst_offset + dst_span <= dst.bytes, "copy beyond its UB buffer");
  const std::int64_t down = (rows - 1) * src_row_stride, across = (cols - 1) * src_col_stride;
  const std::int64_t low = std::min<std::int64_t>(down, 0) + std::min<std::int64_t>(across, 0);
  const std::int64_t high = std::max<std::int64_t>(down, 0) + std::max<std::int64_t>(across, 0) + 1;
  ATC_CHECK(src_offset + low * e >= 0 && src_offset + high * e <= src.bytes,
            "copy from beyond its UB buffer");
  if (computes()) {
    const std::byte* from = src.data + src_offset;
    std::byte* to = writable(dst) + dst_offset;
    auto loop = [&]<class T>(T) {
      const T* s = reinterpret_cast<const T*>(from);
      T* d = reinterpret_cast<T*>(to);
      if (src_col_stride == 1 && dst_col_stride == 1) {
        for (std::int64_t r = 0; r < rows; ++r)
          std::memcpy(d + r * dst_row_stride, s + r * src_row_stride, static_cast<std::size_t>(cols * e));
        return;
      }
      // Blocked, so that a transposition touches each cache line a few times only.
      constexpr std::int64_t kBlock = 16;
      for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock)
        for (std::int64_t c0 = 0; c0 < cols; c0 += kBlock)
          for (std::int64_t r = r0; r < std::min(rows, r0 + kBlock); ++r)
            for (std::int64_t c = c0; c < std::min(cols, c0 + kBlock); ++c)
              d[r * dst_row_stride + c * dst_col_stride] = s[r * src_row_stride + c * src_col_stride];
    };
    switch (element_bytes) {
      case 1:
        loop(std::uint8_t{});
        break;
      case 2:
        loop(std::uint16_t{});
        break;
      case 4:
        loop(std::uint32_t{});
        break;
      default:
        ATC_CHECK(element_bytes == 8, "copy of elements of " + std::to_string(element_bytes) + " bytes");
        loop(std::uint64_t{});
    }
  }
  if (timing_) {
    const bool strided = src_col_stride != 1 || dst_col_stride != 1;
    // A transposition goes through 16 x 16 blocks of 16-bit lanes (TransDataTo5HD): two passes.
    const Cycle work =
        strided ? 2 * ceil_div(rows * cols * e, 64) : rows * ceil_div(cols * e, chip_.vector_bytes);
    issue(Pipe::V, kIssue + work, strided ? "TransDataTo5HD" : "Copy", rows * cols * e, {&src}, {&dst});
  }
}

}  // namespace atc::aicore
