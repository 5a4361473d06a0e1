#include "ascendc/core_block.h"

#include <algorithm>
#include <cstring>

#include "ascendc/matrix_product.h"
#include "atc/base/check.h"

namespace atc::ascendc {
namespace {

/// Bias table and fixpipe buffer of the parts that have them.
constexpr std::int64_t kBiasTable = 1024, kFixpipeBuffer = 7 * 1024;
/// What a vector core keeps for messages between cores.
constexpr std::int64_t kMixReserve = 256;
/// What memory holds before a kernel writes it: not a number in every float type.
constexpr int kUnwritten = 0xff;

}  // namespace

int bits_of(std::uint8_t type) {
  constexpr int kBits[ATC_TYPE_COUNT] = {32, 16, 16, 8, 8, 16, 16, 32, 32, 64, 64, 4, 64};
  return type < ATC_TYPE_COUNT ? kBits[type] : 8;
}

std::string_view type_name(std::uint8_t type) {
  constexpr std::string_view kNames[ATC_TYPE_COUNT] = {
      "float",   "half",     "bfloat16_t", "int8_t",   "uint8_t", "int16_t", "uint16_t",
      "int32_t", "uint32_t", "int64_t",    "uint64_t", "int4b_t", "double"};
  return type < ATC_TYPE_COUNT ? kNames[type] : "?";
}

Block::Block(aicore::Core& a_core, Team& a_team, int core_number)
    : AtcBlock{},
      core(a_core),
      chip(a_core.chip()),
      team(a_team),
      number(core_number),
      checks(a_team.checks),
      pipes(a_core),
      buffers(*this),
      reports(core_number) {
  const bool mix = team.may_sync && chip.split;
  const std::int64_t capacities[ATC_MEMORY_COUNT] = {
      chip.ub - (mix ? kMixReserve : 0), chip.l1, chip.l0a, chip.l0b, chip.l0c, kBiasTable, kFixpipeBuffer};
  extra_memory_.assign(kBiasTable + kFixpipeBuffer, std::byte{kUnwritten});
  for (std::size_t m = 0; m < ATC_MEMORY_COUNT; ++m) {
    memory_bytes[m] = static_cast<std::uint32_t>(capacities[m]);
    std::byte* base = m < aicore::kMemoryCount ? core.memory(static_cast<aicore::Memory>(m))
                      : m == ATC_BIAS_TABLE    ? extra_memory_.data()
                                               : extra_memory_.data() + kBiasTable;
    memory[m] = reinterpret_cast<std::uint8_t*>(base);
  }
  // A vector core has no use for the cube's memories; leaving them alone saves their pages.
  const bool cube = team.places.empty() || !chip.split || team.places[static_cast<std::size_t>(number)].cube;
  for (std::size_t m = 0; m < ATC_MEMORY_COUNT; ++m) {
    if (m != ATC_UB && !cube) continue;
    std::memset(memory[m], kUnwritten, memory_bytes[m]);
    if (checks) shadows_[m].resize(memory_bytes[m]);
  }
  if (checks) {
    for (Shadow& s : shadows_)
      if (&s != &shadows_[ATC_UB] && !cube) s.resize(0);
    sites_.push_back({nullptr, 0});
  }
  gm_log.start(static_cast<int>(std::max<std::size_t>(team.places.size(), 1)));
}

Block::~Block() = default;

MatmulRequests& Block::requests() {
  if (requests_ == nullptr) requests_ = std::make_unique<MatmulRequests>();
  return *requests_;
}

void Block::stop(const AtcSite& site, std::string_view rule, std::string text) {
  if (!reports.seen(rule, &site)) reports.add(true, rule, &site, std::move(text));
  throw KernelStop();
}

void Block::begin_instruction() {
  if (probing) throw ProbeEnd();
}

std::string Block::describe(const AtcLocal& t) const {
  std::string who = buffers.describe(t.buffer);
  if (who.empty()) who = std::string(memory_name(t.memory));
  return who + " at byte " + std::to_string(t.offset - buffers.begin_of(t));
}

std::string Block::describe(const AtcGm& gm) const {
  std::string text = "Global Memory";
  if (gm.tensor >= 0 && static_cast<std::size_t>(gm.tensor) < bound_.size()) {
    const AtcSite& site = bound_[static_cast<std::size_t>(gm.tensor)].site;
    const std::string name = name_at(site, "SetGlobalBuffer", true);
    text = name.empty() ? "the GlobalTensor set at " + place(site) : "GlobalTensor '" + name + "'";
  }
  if (const GmRange* range = team.memory->find(gm.data))
    text += " (" + range->name + ", byte " +
            std::to_string(reinterpret_cast<std::byte*>(gm.data) - range->data) + " of " +
            std::to_string(range->bytes) + ")";
  return text;
}

int Block::bind(const AtcSite& site, const AtcGm& gm) {
  if (!checks) return -1;
  for (std::size_t i = 0; i < bound_.size(); ++i)
    if (bound_[i].site.line == site.line && bound_[i].site.file == site.file) return static_cast<int>(i);
  if (gm.bytes > 0) {
    const GmRange* range = team.memory->find(gm.data);
    const std::int64_t offset = range == nullptr ? 0 : static_cast<std::byte*>(gm.data) - range->data;
    if (range != nullptr && gm.bytes > range->bytes - offset)
      warn(site, "gm-bounds", [&] {
        return "SetGlobalBuffer of " + std::to_string(gm.bytes) + " bytes from byte " +
               std::to_string(offset) + " of " + range->name + ", which has " + std::to_string(range->bytes);
      });
  }
  bound_.push_back({site});
  return static_cast<int>(bound_.size()) - 1;
}

void Block::check_extent(const AtcSite& site, const char* what, const AtcLocal& t, std::int64_t begin,
                         std::int64_t end) {
  const std::int64_t room = capacity(t.memory) - t.offset;
  if (t.offset > capacity(t.memory) || begin < -static_cast<std::int64_t>(t.offset) || end > room)
    stop(site, "tensor-bounds",
         std::string(what) + " reaches to byte " + std::to_string(t.offset + end) + " of " +
             std::string(memory_name(t.memory)) + ", which has " + std::to_string(capacity(t.memory)) + ": " +
             describe(t) + ", a tensor of " + std::to_string(t.bytes) + " bytes");
  if (checks && (begin < 0 || end > static_cast<std::int64_t>(t.bytes) || end > buffers.room(t)))
    fault(site, "tensor-bounds", [&] {
      const std::int64_t has = std::min<std::int64_t>(t.bytes, buffers.room(t));
      return std::string(what) + " touches bytes " + std::to_string(begin) + " to " + std::to_string(end) +
             " of a tensor of " + std::to_string(has) + " bytes: " + describe(t);
    });
}

void Block::check_aligned(const AtcSite& site, const char* what, const AtcLocal& t, std::int64_t alignment) {
  if (!checks || t.offset % alignment == 0) return;
  fault(site, "operand-alignment", [&] {
    return std::string(what) + ": " + describe(t) + " is not aligned: addresses of " +
           std::string(memory_name(t.memory)) + " must be multiples of " + std::to_string(alignment) +
           " bytes, " + std::to_string(t.offset % alignment) + " too many";
  });
}

const GmRange& Block::check_gm(const AtcSite& site, const char* what, const AtcGm& gm, std::int64_t begin,
                               std::int64_t end) {
  const GmRange* range = team.memory->find(gm.data);
  if (range == nullptr)
    stop(site, "gm-bounds",
         std::string(what) +
             (gm.data == nullptr ? ": the address in Global Memory is null"
                                 : ": the address is in no argument of the kernel") +
             (gm.tensor >= 0 ? ", " + describe(gm) : std::string()) +
             ". Arguments come in the order inputs, outputs, workspace, tiling");
  const std::int64_t offset = static_cast<std::byte*>(gm.data) - range->data;
  if (offset + begin < 0 || offset + end > range->bytes)
    stop(site, "gm-bounds",
         std::string(what) + " reaches bytes " + std::to_string(offset + begin) + " to " +
             std::to_string(offset + end) + " of " + range->name + ", which has " +
             std::to_string(range->bytes) + ": " + describe(gm));
  if (checks && gm.bytes >= 0 && end > gm.bytes)
    warn(site, "gm-bounds", [&] {
      return std::string(what) + " reaches " + std::to_string(end - gm.bytes) +
             " bytes behind what SetGlobalBuffer said: " + describe(gm);
    });
  return *range;
}

void Block::require_unit(const AtcSite& site, const char* what, bool cube) {
  if (cube ? is_cube != 0 : is_vector != 0) return;
  stop(site, "unit",
       std::string(what) +
           (cube ? " on a vector core, which has no cube unit: the kernel type must be KERNEL_TYPE_AIC_ONLY "
                   "or a MIX type with "
                   "the call under ASCEND_IS_AIC"
                 : " on a cube core, which has no vector unit: the call belongs under ASCEND_IS_AIV"));
}

int Block::site_number(const AtcSite& site) {
  for (std::size_t i = sites_.size(); i-- > 0;)
    if (sites_[i].line == site.line && sites_[i].file == site.file) return static_cast<int>(i);
  sites_.push_back(site);
  return static_cast<int>(sites_.size()) - 1;
}

void Block::touch(const AtcSite& site, const char* what, Pipe pipe, const AtcLocal& t, std::int64_t offset,
                  std::int64_t n, bool write) {
  if (!checks || n <= 0) return;
  const Shadow::Conflict c =
      shadows_[t.memory].touch(pipes, pipe, t.offset + offset, n, write, site_number(site));
  if (!c.found) return;
  // Compilers put flags around scalar accesses to tensors by default: a warning.
  const bool scalar = pipe == Pipe::S || c.other == Pipe::S;
  if (reports.seen("race", &site)) return;
  const auto text = [&] {
    const AtcSite& other = site_of(c.other_site);
    const std::string from(aicore::name(c.other)), to(aicore::name(pipe));
    return std::string(what) + " " + (write ? "writes " : "reads ") + describe(t) + " on pipe " + to +
           " while what " + place(other) +
           (c.other_wrote ? " writes there on pipe " : " reads there on pipe ") + from +
           " may not be done: nothing orders them. Set and wait for a flag from " + from + " to " + to +
           ", use the queue's EnQue and DeQue, or PipeBarrier<PIPE_ALL>";
  };
  reports.add(!scalar, "race", &site, text());
}

void Block::need_written(const AtcSite& site, const char* what, const AtcLocal& t, std::int64_t offset,
                         std::int64_t n) {
  if (!checks) return;
  const std::int64_t at = shadows_[t.memory].first_unwritten(t.offset + offset, n);
  if (at < 0) return;
  fault(site, "uninitialised", [&] {
    return std::string(what) + " takes bytes that were never written: " + describe(t) + ", from byte " +
           std::to_string(at - t.offset) + " of the tensor on. On hardware they hold anything, NaN too";
  });
  // Reported once: what comes of it counts as written.
  shadows_[t.memory].set_written(t.offset + offset, n);
}

void Block::log_gm(const AtcSite& site, GmUse use, const void* at, std::int64_t n) {
  (use == GmUse::Read ? gm_read : gm_written) += n;
  if (checks) gm_log.add(use, at, n, site_number(site));
}

void Block::order_gm(const AtcSite& site, const char* what, Pipe pipe, const AtcGm& gm, const GmRows& rows) {
  if (!checks) return;
  const GmOrder::Conflict c = gm_order_.touch(pipes, pipe, rows, site_number(site));
  if (!c.found) return;
  fault(site, "race", [&] {
    const std::string from(aicore::name(c.other)), to(aicore::name(pipe));
    return std::string(what) + (pipe == Pipe::MTE2 ? " reads " : " writes ") + describe(gm) + " on pipe " +
           to + " while what " + place(site_of(c.other_site)) +
           (c.other_wrote ? " writes there on pipe " : " reads there on pipe ") + from +
           " may not be done: nothing orders them in Global Memory. Set and wait for a flag from " + from +
           " to " + to + ", or PipeBarrier<PIPE_ALL>";
  });
}

void Block::send(int flag, aicore::FlagReach reach) {
  if (!checks) return;
  const std::lock_guard lock(team.mutex);
  sent_[static_cast<std::size_t>(flag)][static_cast<std::size_t>(reach)].push_back(gm_log.send(number));
}

// The n-th arrival of a flag tells what its setters knew when they set it for the n-th time.
void Block::receive(int flag) {
  if (!checks) return;
  const std::size_t n = received_[static_cast<std::size_t>(flag)]++;
  const std::lock_guard lock(team.mutex);
  GmLog::Clock joined(team.places.size(), 0);
  const auto own = team.places[static_cast<std::size_t>(number)];
  for (std::size_t b = 0; b < team.blocks.size(); ++b)
    for (int r = 0; r < aicore::kFlagReaches; ++r) {
      const auto reach = static_cast<aicore::FlagReach>(r);
      if (team.blocks[b] == nullptr || !aicore::sets_for(team.places[b], own, reach)) continue;
      const auto& sent = team.blocks[b]->sent_[static_cast<std::size_t>(flag)][static_cast<std::size_t>(r)];
      if (n >= sent.size()) continue;
      for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = std::max(joined[i], sent[n][i]);
    }
  gm_log.receive(joined);
}

void Block::finish() {
  if (!checks) return;
  for (int from = 0; from < kPipeCount; ++from)
    for (int to = 0; to < kPipeCount; ++to)
      for (int e = 0; e < kEvents; ++e) {
        const auto& flag = pipes.flag(static_cast<Pipe>(from), static_cast<Pipe>(to), e);
        if (!flag.set) continue;
        fault(flag.by, "flag", [&] {
          return "event " + std::to_string(e) + " from " +
                 std::string(aicore::name(static_cast<Pipe>(from))) + " to " +
                 std::string(aicore::name(static_cast<Pipe>(to))) +
                 " is set and never waited for: it is still set when the kernel ends, and the next kernel on "
                 "the core finds it";
        });
      }
  if (atomic != ATC_ATOMIC_NONE)
    warn(atomic_site, "mode-left-on", [] {
      return std::string("the atomic mode is still on when the kernel ends: SetAtomicNone is missing");
    });
  if (mask_counter)
    warn(mask_site, "mode-left-on", [] {
      return std::string("the mask is still in counter mode when the kernel ends: SetMaskNorm is missing");
    });
  buffers.finish();
}

aicore::Stats Block::stats() const {
  aicore::Stats s = core.stats();
  s.gm_read = gm_read;
  s.gm_written = gm_written;
  return s;
}

}  // namespace atc::ascendc
