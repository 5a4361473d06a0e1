#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ascendc/reports.h"

namespace atc::ascendc {

/// A stretch of Global Memory that a kernel may touch.
struct GmRange {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::string name;     ///< for messages: "input 'x'", "argument 0"
  bool output = false;  ///< the kernel is expected to write all of it
  /// What every byte of an output holds before; other bytes were written, by stores that nobody saw.
  std::optional<std::byte> fill{};
};

/// All stretches of a launch, by address.
class GmMap {
 public:
  explicit GmMap(std::vector<GmRange> ranges);
  /// The range that holds this address (or ends there); null: none.
  const GmRange* find(const void* address) const;
  const std::vector<GmRange>& ranges() const { return ranges_; }

 private:
  std::vector<GmRange> ranges_;
};

enum class GmUse : std::uint8_t { Read, Write, Atomic, ScalarWrite };

/// What one core did to Global Memory, with what it knew of the other cores' progress then.
class GmLog {
 public:
  struct Access {
    std::uintptr_t begin = 0, end = 0;
    std::uint32_t epoch = 0;    ///< of this core: raised by each flag it sets
    std::uint32_t version = 0;  ///< which of clocks() held
    int site = 0;
    GmUse use = GmUse::Read;
  };
  using Clock = std::vector<std::uint32_t>;  ///< one epoch for each core

  void start(int cores);
  void add(GmUse use, const void* at, std::int64_t bytes, int site);
  /// The core sets a flag: gives what it knows, and begins a new epoch.
  Clock send(int self);
  void receive(const Clock& clock);

  /// Scalar stores that have not been written back.
  bool dirty(const void* at, std::int64_t bytes, int* site) const;
  void clean(const void* at, bool whole);

  /// Accesses by address, joined where they touch.
  const std::vector<Access>& compacted();
  const std::vector<Clock>& clocks() const { return clocks_; }

 private:
  void compact();
  std::vector<Access> accesses_;
  std::vector<Access> dirty_;
  std::vector<Clock> clocks_;
  std::uint32_t epoch_ = 1;
  std::size_t compact_at_ = 0;
};

/// The first stretch of [begin, end) that no core has written, and how many bytes there are in all.
struct GmGap {
  std::uintptr_t begin = 0;
  std::int64_t bytes = 0, total = 0;
};
GmGap unwritten(std::vector<GmLog*> cores, const GmRange& range);

/// Two cores that touch the same bytes, one of them writing, with nothing that orders them.
struct GmConflict {
  int core = 0, other = 0;
  int site = 0, other_site = 0;
  std::uintptr_t begin = 0, end = 0;
  GmUse use = GmUse::Read, other_use = GmUse::Read;
  bool line_only = false;  ///< scalar stores to different bytes of one cache line
};
/// At most `limit`, by core and address.
std::vector<GmConflict> conflicts(std::vector<GmLog*> cores, std::size_t limit);

}  // namespace atc::ascendc
