#include "ascendc/global_memory.h"

#include <algorithm>
#include <tuple>

namespace atc::ascendc {
namespace {

constexpr std::uintptr_t kCacheLine = 64;
constexpr std::size_t kCompactAt = std::size_t{1} << 18;

std::uintptr_t address(const void* p) { return reinterpret_cast<std::uintptr_t>(p); }
std::uintptr_t line_begin(std::uintptr_t a) { return a / kCacheLine * kCacheLine; }
std::uintptr_t line_end(std::uintptr_t a) { return (a + kCacheLine - 1) / kCacheLine * kCacheLine; }

}  // namespace

GmMap::GmMap(std::vector<GmRange> ranges) : ranges_(std::move(ranges)) {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const GmRange& a, const GmRange& b) { return a.data < b.data; });
}

const GmRange* GmMap::find(const void* at) const {
  auto it = std::upper_bound(ranges_.begin(), ranges_.end(), address(at),
                             [](std::uintptr_t a, const GmRange& r) { return a < address(r.data); });
  if (it == ranges_.begin()) return nullptr;
  --it;
  return address(at) <= address(it->data) + static_cast<std::uintptr_t>(it->bytes) ? &*it : nullptr;
}

void GmLog::start(int cores) {
  accesses_.clear();
  dirty_.clear();
  clocks_.assign(1, Clock(static_cast<std::size_t>(cores), 0));
  epoch_ = 1;
  compact_at_ = kCompactAt;
}

void GmLog::add(GmUse use, const void* at, std::int64_t bytes, int site) {
  if (bytes <= 0) return;
  const std::uintptr_t begin = address(at), end = begin + static_cast<std::uintptr_t>(bytes);
  const auto version = static_cast<std::uint32_t>(clocks_.size() - 1);
  if (use == GmUse::ScalarWrite) {
    if (!dirty_.empty() && dirty_.back().end == begin)
      dirty_.back().end = end;
    else
      dirty_.push_back({begin, end, epoch_, version, site, use});
  }
  if (!accesses_.empty()) {
    Access& last = accesses_.back();
    if (last.use == use && last.epoch == epoch_ && last.version == version && last.site == site &&
        last.end == begin) {
      last.end = end;
      return;
    }
  }
  accesses_.push_back({begin, end, epoch_, version, site, use});
  if (accesses_.size() >= compact_at_) {
    compact();
    compact_at_ = std::max(kCompactAt, 2 * accesses_.size());
  }
}

GmLog::Clock GmLog::send(int self) {
  Clock clock = clocks_.back();
  clock[static_cast<std::size_t>(self)] = epoch_++;
  return clock;
}

void GmLog::receive(const Clock& clock) {
  Clock joined = clocks_.back();
  for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = std::max(joined[i], clock[i]);
  clocks_.push_back(std::move(joined));
}

bool GmLog::dirty(const void* at, std::int64_t bytes, int* site) const {
  const std::uintptr_t begin = address(at), end = begin + static_cast<std::uintptr_t>(bytes);
  for (const Access& d : dirty_)
    if (line_begin(d.begin) < end && begin < line_end(d.end)) {
      *site = d.site;
      return true;
    }
  return false;
}

void GmLog::clean(const void* at, bool whole) {
  if (whole) {
    dirty_.clear();
    return;
  }
  const std::uintptr_t begin = line_begin(address(at)), end = begin + kCacheLine;
  std::vector<Access> left;
  for (const Access& d : dirty_) {
    if (d.begin < begin) left.push_back({d.begin, std::min(d.end, begin), d.epoch, d.version, d.site, d.use});
    if (d.end > end) left.push_back({std::max(d.begin, end), d.end, d.epoch, d.version, d.site, d.use});
  }
  dirty_ = std::move(left);
}

// Of the same use, epoch and knowledge one stretch will do; the site is the first one's.
void GmLog::compact() {
  auto key = [](const Access& a) { return std::tuple(a.use, a.epoch, a.version, a.begin); };
  std::stable_sort(accesses_.begin(), accesses_.end(),
                   [&](const Access& a, const Access& b) { return key(a) < key(b); });
  std::vector<Access> joined;
  for (const Access& a : accesses_) {
    if (!joined.empty()) {
      Access& last = joined.back();
      if (last.use == a.use && last.epoch == a.epoch && last.version == a.version && a.begin <= last.end) {
        last.end = std::max(last.end, a.end);
        continue;
      }
    }
    joined.push_back(a);
  }
  accesses_ = std::move(joined);
}

const std::vector<GmLog::Access>& GmLog::compacted() {
  compact();
  std::stable_sort(accesses_.begin(), accesses_.end(),
                   [](const Access& a, const Access& b) { return a.begin < b.begin; });
  return accesses_;
}

namespace {

bool exempt(GmUse a, GmUse b) {
  return (a == GmUse::Read && b == GmUse::Read) || (a == GmUse::Atomic && b == GmUse::Atomic);
}

}  // namespace

std::vector<GmConflict> conflicts(std::vector<GmLog*> cores, std::size_t limit) {
  struct Entry {
    const GmLog::Access* access;
    int core;
    std::uintptr_t begin, end;  // of the cache lines for scalar stores
  };
  std::vector<Entry> all;
  for (std::size_t c = 0; c < cores.size(); ++c)
    for (const GmLog::Access& a : cores[c]->compacted()) {
      const bool scalar = a.use == GmUse::ScalarWrite;
      all.push_back({&a, static_cast<int>(c), scalar ? line_begin(a.begin) : a.begin,
                     scalar ? line_end(a.end) : a.end});
    }
  std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  auto ordered = [&](const Entry& a, const Entry& b) {  // a before b
    return cores[static_cast<std::size_t>(b.core)]
               ->clocks()[b.access->version][static_cast<std::size_t>(a.core)] >= a.access->epoch;
  };
  // Stretches that reach over the next one's begin: those that write, and the others.
  std::vector<GmConflict> found;
  std::vector<Entry> writing, reading;
  auto leave = [](std::vector<Entry>& active, std::uintptr_t at) {
    std::erase_if(active, [at](const Entry& e) { return e.end <= at; });
  };
  for (const Entry& e : all) {
    if (found.size() >= limit) break;
    const bool writes = e.access->use != GmUse::Read;
    leave(writing, e.begin);
    if (writes) leave(reading, e.begin);
    auto look = [&](const std::vector<Entry>& active) {
      for (const Entry& o : active) {
        if (o.core == e.core || exempt(o.access->use, e.access->use) || ordered(o, e) || ordered(e, o))
          continue;
        const std::uintptr_t begin = std::max(o.access->begin, e.access->begin),
                             end = std::min(o.access->end, e.access->end);
        const bool line_only = begin >= end;
        if (line_only && !(o.access->use == GmUse::ScalarWrite && e.access->use == GmUse::ScalarWrite))
          continue;
        if (found.size() < limit)
          found.push_back({o.core, e.core, o.access->site, e.access->site, line_only ? e.begin : begin,
                           line_only ? e.begin + kCacheLine : end, o.access->use, e.access->use, line_only});
      }
    };
    look(writing);
    if (writes) {
      look(reading);
      writing.push_back(e);
    } else {
      if (reading.size() > 256) leave(reading, e.begin);
      reading.push_back(e);
    }
  }
  return found;
}

GmGap unwritten(std::vector<GmLog*> cores, const GmRange& range) {
  const std::uintptr_t first = address(range.data), last = first + static_cast<std::uintptr_t>(range.bytes);
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> written;
  for (GmLog* core : cores)
    for (const GmLog::Access& a : core->compacted())
      if (a.use != GmUse::Read && a.begin < last && a.end > first) written.emplace_back(a.begin, a.end);
  std::sort(written.begin(), written.end());
  GmGap gap;
  std::uintptr_t at = first;
  auto add = [&](std::uintptr_t end) {
    if (end <= at) return;
    const auto* data = reinterpret_cast<const std::byte*>(at);
    const auto missing =
        range.fill ? std::count(data, data + (end - at), *range.fill) : static_cast<std::ptrdiff_t>(end - at);
    if (missing == 0) return;
    if (gap.total == 0) gap = {at, static_cast<std::int64_t>(end - at), 0};
    gap.total += missing;
  };
  for (const auto& [begin, end] : written) {
    add(std::min(begin, last));
    at = std::max(at, end);
  }
  add(last);
  return gap;
}

}  // namespace atc::ascendc
