#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "aicore/block_sync.h"
#include "aicore/core.h"
#include "ascendc/buffers.h"
#include "ascendc/global_memory.h"
#include "ascendc/gm_order.h"
#include "ascendc/pipes.h"
#include "ascendc/reports.h"
#include "ascendc/shadow.h"
#include "atc/base/dtype.h"
#include "atc/core_api.h"

namespace atc::aicore {
class BlockGroup;
}

namespace atc::ascendc {

class Block;
struct MatmulRequests;

/// Atomic copies that are not in Global Memory yet. They get there core by core, so that sums of floats do
/// not depend on the threads: when the core meets others, or touches the same bytes itself.
class Atomics {
 public:
  void add(int atomic, std::uint8_t type, std::byte* dst, const std::byte* src, std::int64_t elements);
  bool overlaps(const void* at, std::int64_t bytes) const;
  std::size_t bytes() const { return data_.size(); }
  void apply();

 private:
  struct Copy {
    int atomic;
    std::uint8_t type;
    std::byte* dst;
    std::int64_t elements;
    std::size_t data;
  };
  std::vector<Copy> copies_;
  std::vector<std::byte> data_;
  std::byte* low_ = nullptr;
  std::byte* high_ = nullptr;
};

/// What the cores of a launch share.
struct Team {
  const GmMap* memory = nullptr;
  bool checks = true;
  bool may_sync = false;    ///< a kernel type with which cores wait for each other
  bool together = false;    ///< all cores run beside each other
  std::string why_no_sync;  ///< else: the reason, for the diagnostic
  int kernel_type = -1;
  std::vector<aicore::BlockPlace> places;
  std::vector<Block*> blocks;  ///< by core, when they run beside each other
  aicore::BlockGroup* group = nullptr;
  std::mutex mutex;    ///< of what they tell each other
  std::mutex atomics;  ///< of Global Memory while atomic copies get there
};

/// One core that runs one block of a kernel: the state behind the calls of AtcCoreApi.
class Block : public AtcBlock {
 public:
  Block(aicore::Core& core, Team& team, int core_number);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  aicore::Core& core;
  const soc::Chip& chip;
  Team& team;
  const int number;  ///< of the core within the launch
  const bool checks;
  Pipes pipes;
  Buffers buffers;
  Reports reports;
  GmLog gm_log;
  std::string printed;
  struct Mark {
    int id = 0;
    bool begin = true;
    Cycle at = 0;
  };
  std::vector<Mark> marks;  ///< TRACE_START, TRACE_STOP
  std::int64_t gm_read = 0, gm_written = 0;

  /// Registers.
  std::array<std::uint64_t, 2> mask{~std::uint64_t{0}, ~std::uint64_t{0}};  ///< low, high
  bool mask_counter = false;
  AtcSite mask_site{};
  int atomic = ATC_ATOMIC_NONE;
  std::uint8_t atomic_type = ATC_F32;
  AtcSite atomic_site{};
  Atomics atomics;
  float deq_scale = 1.0f;
  int hf32 = 0;  ///< AtcHf32
  std::array<std::uint64_t, 2> compare_mask{};
  std::uint64_t reduce_value = 0, reduce_index = 0;
  std::array<std::array<std::uint8_t, kPipeCount>, kPipeCount> reserved_events{};  ///< bits
  /// The kernel's declared type; in a probe the first instruction ends the run.
  bool probing = false;
  int declared_type = -1;
  AtcSite waiting_at{};  ///< for another core
  AtcSite last_site{};   ///< of the last instruction that the kernel gave

  // ---- Faults ----
  /// A fault at this place; the kernel goes on. The text is made once for a line only.
  template <class Text>
  void fault(const AtcSite& site, std::string_view rule, Text&& text) {
    if (!reports.seen(rule, &site)) reports.add(true, rule, &site, text());
  }
  template <class Text>
  void warn(const AtcSite& site, std::string_view rule, Text&& text) {
    if (!reports.seen(rule, &site)) reports.add(false, rule, &site, text());
  }
  /// A fault after which the kernel cannot go on.
  [[noreturn]] void stop(const AtcSite& site, std::string_view rule, std::string text);

  // ---- Memory ----
  std::byte* bytes(const AtcLocal& t, std::int64_t offset = 0) {
    return memory_base(t.memory) + t.offset + offset;
  }
  std::byte* memory_base(std::uint8_t m) { return reinterpret_cast<std::byte*>(memory[m]); }
  std::int64_t capacity(std::uint8_t m) const { return memory_bytes[m]; }
  /// "queue 'x' (VECIN) at byte 64".
  std::string describe(const AtcLocal& t) const;
  std::string describe(const AtcGm& gm) const;
  int bind(const AtcSite& site, const AtcGm& gm);

  /// Stops unless the stretch is inside its memory; reports one beyond the tensor.
  void check_extent(const AtcSite& site, const char* what, const AtcLocal& t, std::int64_t begin,
                    std::int64_t end);
  /// Reports a start that is no multiple of `alignment`.
  void check_aligned(const AtcSite& site, const char* what, const AtcLocal& t, std::int64_t alignment);
  /// Stops unless [offset, offset + bytes) from gm.data is memory of the launch. Gives its range.
  const GmRange& check_gm(const AtcSite& site, const char* what, const AtcGm& gm, std::int64_t begin,
                          std::int64_t end);
  /// Before these bytes of Global Memory are read or written: own atomic copies to them get there.
  void settle(const void* at, std::int64_t n);
  void settle_all();
  void require_unit(const AtcSite& site, const char* what, bool cube);

  // ---- What an instruction touches (checks only) ----
  void touch(const AtcSite& site, const char* what, Pipe pipe, const AtcLocal& t, std::int64_t offset,
             std::int64_t n, bool write);
  /// A read whose value leaves the vector unit: reports bytes that were never written.
  void need_written(const AtcSite& site, const char* what, const AtcLocal& t, std::int64_t offset,
                    std::int64_t n);
  Shadow& shadow(std::uint8_t m) { return shadows_[m]; }
  void log_gm(const AtcSite& site, GmUse use, const void* at, std::int64_t n);
  /// Reports rows of Global Memory that another pipe may not have done with (MTE2 reads, MTE3 and FIX write).
  void order_gm(const AtcSite& site, const char* what, Pipe pipe, const AtcGm& gm, const GmRows& rows);
  int site_number(const AtcSite& site);
  const AtcSite& site_of(int n) const { return sites_[static_cast<std::size_t>(n)]; }

  const std::vector<AtcSite>& sites() const { return sites_; }

  /// Called by every instruction first: ends a probe.
  void begin_instruction();
  /// Leftovers of the kernel.
  void finish();
  aicore::Stats stats() const;

  // ---- Other cores ----
  /// Products that it has asked its cube core for (matrix_product.h).
  MatmulRequests& requests();
  /// Flags in Global Memory that it has set (IBSet); read by others between the rounds of the group.
  struct BlockFlag {
    const void* at = nullptr;
    int block = 0, event = 0;
    Cycle time = 0;
    GmLog::Clock known;
    bool taken = false;
  };
  std::deque<BlockFlag> block_flags;
  void send(int flag, aicore::FlagReach reach);
  void receive(int flag);

 private:
  struct Bound {
    AtcSite site;
  };
  std::array<Shadow, ATC_MEMORY_COUNT> shadows_;
  GmOrder gm_order_;
  std::unique_ptr<MatmulRequests> requests_;
  std::vector<std::byte> extra_memory_;  ///< bias table and fixpipe buffer
  std::vector<AtcSite> sites_;
  std::vector<Bound> bound_;
  std::array<std::array<std::vector<GmLog::Clock>, aicore::kFlagReaches>, aicore::kCrossCoreFlags> sent_;
  std::array<std::size_t, aicore::kCrossCoreFlags> received_{};
};

/// The probe of a kernel's type is over.
struct ProbeEnd {};

// ---- Types ----
int bits_of(std::uint8_t type);
std::string_view type_name(std::uint8_t type);
inline std::int64_t bytes_for(std::uint8_t type, std::int64_t elements) {
  return elements * bits_of(type) / 8;
}

/// Cycles of one instruction's issue on its pipe.
inline constexpr Cycle kIssue = 8;

}  // namespace atc::ascendc
