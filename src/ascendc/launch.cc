#include "ascendc/launch.h"

#include <algorithm>
#include <boost/context/detail/exception.hpp>
#include <exception>
#include <mutex>

#include "aicore/block_group.h"
#include "ascendc/instructions.h"
#include "ascendc/matrix_product.h"
#include "atc/base/check.h"

namespace atc::ascendc {
namespace {

constexpr int kMaxBlocks = 65535;
constexpr std::size_t kShownConflicts = 8;
constexpr const char* kThrown =
    "the kernel throws an exception after this instruction, which code of an AI Core cannot";

std::string type_text(int type) {
  constexpr const char* kNames[] = {"AIV_ONLY",    "AIC_ONLY",       "MIX_AIV_1_0", "MIX_AIC_1_0",
                                    "MIX_AIC_1_1", "MIX_AIC_1_2",    "AICORE",      "VECTORCORE",
                                    "MIX_AICORE",  "MIX_VECTOR_CORE"};
  return std::string("KERNEL_TYPE_") + (type >= 0 && type < 10 ? kNames[type] : "?");
}

/// Cores of one block: a cube core and vector cores.
struct Shape {
  int cubes = 0, vectors = 1;
  int cores() const { return cubes + vectors; }
};

Shape shape_of(const soc::Chip& chip, int type) {
  if (!chip.split) return {0, 1};  // one core with both units
  switch (type) {
    case ATC_KERNEL_AIC_ONLY:
    case ATC_KERNEL_MIX_AIC_1_0:
      return {1, 0};
    case ATC_KERNEL_MIX_AIC_1_1:
      return {1, 1};
    case ATC_KERNEL_MIX_AIC_1_2:
    case ATC_KERNEL_AICORE:
    case ATC_KERNEL_MIX_AICORE:
      return {1, 2};
    default:
      return {0, 1};
  }
}

bool waits_for_others(int type) {
  return type == ATC_KERNEL_MIX_AIV_1_0 || type == ATC_KERNEL_MIX_AIC_1_0 || type == ATC_KERNEL_MIX_AIC_1_1 ||
         type == ATC_KERNEL_MIX_AIC_1_2 || type == ATC_KERNEL_MIX_AICORE || type == ATC_KERNEL_MIX_VECTORCORE;
}

/// Cores keep their memory from one launch to the next: to get it cleared by the system again would cost more
/// than many a kernel takes. Several launches at a time take a group each.
class Groups {
 public:
  std::unique_ptr<aicore::BlockGroup> take(const soc::Chip& chip, bool timing) {
    const std::lock_guard lock(mutex_);
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->chip != &chip || it->timing != timing) continue;
      auto group = std::move(it->group);
      idle_.erase(it);
      return group;
    }
    return std::make_unique<aicore::BlockGroup>(chip, aicore::Values::Literal, timing);
  }
  void give_back(const soc::Chip& chip, bool timing, std::unique_ptr<aicore::BlockGroup> group) {
    constexpr std::size_t kKept = 2;
    const std::lock_guard lock(mutex_);
    if (idle_.size() == kKept) idle_.erase(idle_.begin());
    idle_.push_back({&chip, timing, std::move(group)});
  }

 private:
  struct Idle {
    const soc::Chip* chip;
    bool timing;
    std::unique_ptr<aicore::BlockGroup> group;
  };
  std::mutex mutex_;
  std::vector<Idle> idle_;
};
Groups& groups() {
  static Groups g;
  return g;
}

/// One launch on its way.
class Run {
 public:
  Run(const soc::Chip& chip, const Launch& launch, ThreadPool& pool)
      : chip_(chip), launch_(launch), pool_(pool), memory_(launch.memory) {}

  Outcome operator()() {
    if (launch_.block_dim < 1 || launch_.block_dim > kMaxBlocks) {
      outcome_.diagnostics.push_back({true,
                                      "block-dim",
                                      {},
                                      0,
                                      -1,
                                      "the kernel is launched with " + std::to_string(launch_.block_dim) +
                                          " blocks, 1 to 65535 are possible",
                                      1});
      return std::move(outcome_);
    }
    outcome_.kernel_type = launch_.type ? *launch_.type : probe();
    shape_ = shape_of(chip_, outcome_.kernel_type);
    const int fit = shape_.cubes > 0 ? chip_.cube_blocks() : chip_.vector_blocks();
    team_.memory = &memory_;
    team_.checks = launch_.checks;
    team_.kernel_type = outcome_.kernel_type;
    team_.may_sync = waits_for_others(outcome_.kernel_type) || !chip_.split;
    if (!team_.may_sync)
      team_.why_no_sync =
          "the kernel type is " + type_text(outcome_.kernel_type) +
          ", for which cores are not scheduled together: declare a MIX type with KERNEL_TASK_TYPE_DEFAULT";
    if (team_.may_sync && launch_.block_dim > fit) {
      team_.may_sync = false;
      team_.why_no_sync = std::to_string(launch_.block_dim) + " blocks are launched, " +
                          std::string(chip_.name) + " runs " + std::to_string(fit) +
                          " of them at once: the others never begin";
    }
    for (int block = 0; block < launch_.block_dim; ++block) {
      for (int c = 0; c < shape_.cubes; ++c) team_.places.push_back({block, true});
      for (int v = 0; v < shape_.vectors; ++v) team_.places.push_back({block, false});
    }
    blocks_.resize(team_.places.size());
    team_.blocks.assign(team_.places.size(), nullptr);
    results_.resize(team_.places.size());
    traces_.resize(team_.places.size());
    team_.together = launch_.block_dim <= fit && (team_.places.size() > 1 || team_.may_sync);
    if (team_.together)
      together();
    else
      apart(fit * std::max(1, shape_.cores()));
    collect(fit);
    return std::move(outcome_);
  }

 private:
  std::unique_ptr<Block> make(aicore::Core& core, int n) {
    const aicore::BlockPlace place = team_.places[static_cast<std::size_t>(n)];
    auto b = std::make_unique<Block>(core, team_, n);
    const int vector = n % shape_.cores() - shape_.cubes;
    b->block_num = launch_.block_dim;
    b->is_cube = !chip_.split || place.cube;
    b->is_vector = !chip_.split || !place.cube;
    b->sub_block_idx = place.cube ? 0 : vector;
    b->sub_block_num = std::max(1, shape_.vectors);
    const bool pair = shape_.cubes > 0 && shape_.vectors == 2 && !place.cube;
    b->task_ratio = pair ? 2 : 1;
    b->block_idx = pair ? place.team * 2 + vector : place.team;
    b->npu_arch = npu_arch(chip_);
    b->tiling_key = launch_.tiling_key;
    b->system_workspace = launch_.system_workspace;
    b->system_workspace_bytes = launch_.system_workspace_bytes;
    return b;
  }

  // The kernel's type: what the first block declares before its first instruction, else what its buffers are
  // for.
  int probe() {
    team_.memory = &memory_;
    team_.checks = false;
    team_.places = {{0, false}};
    shape_ = {0, 1};
    aicore::Core core(chip_, aicore::Values::Literal, false);
    core.start_block(1);
    auto b = make(core, 0);
    b->is_cube = b->is_vector = 1;
    b->probing = true;
    try {
      launch_.kernel(b.get(), &core_api(), launch_.args.data());
    } catch (const InternalError&) {
      throw;
    } catch (...) {
      // ProbeEnd mostly; what else there is comes again in the run itself.
    }
    team_.places.clear();
    if (b->declared_type >= 0) return b->declared_type;
    if (b->buffers.has_cube()) return b->buffers.has_vector() ? ATC_KERNEL_MIX_AIC_1_2 : ATC_KERNEL_AIC_ONLY;
    return ATC_KERNEL_AIV_ONLY;
  }

  /// What is left of a block that has ended.
  struct Result {
    Reports reports{0};
    GmLog gm_log;
    std::vector<AtcSite> sites;
    std::string printed;
    Atomics atomics;
    std::vector<CoreRun::Mark> marks;
    aicore::Stats stats;
    bool ran = false;
  };
  void keep(int n) {
    auto& b = blocks_[static_cast<std::size_t>(n)];
    if (b == nullptr) return;
    Result& r = results_[static_cast<std::size_t>(n)];
    r.reports = std::move(b->reports);
    r.gm_log = std::move(b->gm_log);
    r.sites = b->sites();
    r.printed = std::move(b->printed);
    r.atomics = std::move(b->atomics);
    for (const Block::Mark& m : b->marks) r.marks.push_back({m.id, m.begin, m.at});
    r.ran = true;
    b.reset();
  }

  void body(aicore::Core& core, int n) {
    auto& b = blocks_[static_cast<std::size_t>(n)];
    b = make(core, n);
    if (team_.together) {
      const std::lock_guard lock(team_.mutex);
      team_.blocks[static_cast<std::size_t>(n)] = b.get();
    }
    if (launch_.trace) core.set_trace(&traces_[static_cast<std::size_t>(n)]);
    try {
      launch_.kernel(b.get(), &core_api(), launch_.args.data());
      b->finish();
    } catch (const KernelStop&) {
    } catch (const InternalError&) {
      throw;
    } catch (const boost::context::detail::forced_unwind&) {
      throw;  // a block that waits for ever is given up
    } catch (const std::exception& e) {
      b->reports.add(true, "exception", &b->last_site, std::string(kThrown) + ": " + e.what());
    } catch (...) {
      b->reports.add(true, "exception", &b->last_site, kThrown);
    }
    core.set_trace(nullptr);
    b->requests().closed = true;
  }

  void together() {
    const int n = static_cast<int>(team_.places.size());
    auto group = groups().take(chip_, launch_.timing);
    team_.group = group.get();
    const auto deadlock = group->try_run(
        n, pool_, [&](aicore::Core& core, int i) { body(core, i); }, team_.places, n,
        [this] {
          for (const auto& b : blocks_)
            if (b != nullptr) b->settle_all();
        });
    if (deadlock) explain(*deadlock);
    for (int i = 0; i < n; ++i)
      if (const auto& b = blocks_[static_cast<std::size_t>(i)]; b != nullptr)
        results_[static_cast<std::size_t>(i)].stats = b->stats();
    // Cores that wait for ever are unwound here; their destructors still see their blocks.
    if (deadlock)
      group.reset();
    else
      groups().give_back(chip_, launch_.timing, std::move(group));
    for (int i = 0; i < n; ++i) keep(i);
  }

  void explain(const std::string& deadlock) {
    // A core that stopped at a fault leaves the others waiting: then that fault is the message.
    for (const auto& b : blocks_)
      if (b != nullptr && std::any_of(b->reports.list().begin(), b->reports.list().end(),
                                      [](const Diagnostic& d) { return d.error; }))
        return;
    for (const auto& b : blocks_)
      if (b != nullptr && b->waiting_at.file != nullptr) {
        b->reports.add(true, "deadlock", &b->waiting_at, "deadlock: " + deadlock);
        return;
      }
    outcome_.diagnostics.push_back({true, "deadlock", {}, 0, -1, "deadlock: " + deadlock, 1});
  }

  void apart(int cores) {
    const int sharing = std::min<int>(cores, static_cast<int>(team_.places.size()));
    std::vector<std::unique_ptr<aicore::Core>> workers;
    for (int w = 0; w < pool_.size(); ++w)
      workers.push_back(std::make_unique<aicore::Core>(chip_, aicore::Values::Literal, launch_.timing));
    pool_.parallel_for(team_.places.size(), [&](std::size_t i, int worker) {
      aicore::Core& core = *workers[static_cast<std::size_t>(worker)];
      core.start_block(sharing);
      body(core, static_cast<int>(i));
      results_[i].stats = blocks_[i]->stats();
      keep(static_cast<int>(i));
    });
    for (Result& r : results_) r.atomics.apply();
  }

  void collect(int fit) {
    std::vector<const Reports*> reports;
    std::vector<GmLog*> logs;
    // Blocks beyond the chip's cores follow on the core that is free first.
    const std::size_t slots =
        static_cast<std::size_t>(fit) * static_cast<std::size_t>(std::max(1, shape_.cores()));
    std::vector<aicore::Cycle> free_at(std::min(slots, team_.places.size()), 0);
    for (std::size_t n = 0; n < team_.places.size(); ++n) {
      const aicore::BlockPlace place = team_.places[n];
      CoreRun run;
      run.name = "core" + std::to_string(place.team) +
                 (place.cube ? ".cubecore0"
                             : ".veccore" + std::to_string(std::max(
                                                0, static_cast<int>(n) % shape_.cores() - shape_.cubes)));
      Result& result = results_[n];
      run.stats = result.stats;
      const auto slot = std::min_element(free_at.begin(), free_at.end());
      run.begin = n < free_at.size() ? 0 : *slot;
      aicore::Cycle& end = n < free_at.size() ? free_at[n] : *slot;
      end = run.begin + run.stats.cycles;
      run.trace = std::move(traces_[n]);
      run.marks = std::move(result.marks);
      aicore::Stats& sum = outcome_.stats;
      sum.cycles = std::max(sum.cycles, end);
      for (std::size_t p = 0; p < sum.busy.size(); ++p) sum.busy[p] += run.stats.busy[p];
      sum.gm_read += run.stats.gm_read;
      sum.gm_written += run.stats.gm_written;
      sum.instructions += run.stats.instructions;
      outcome_.cores.push_back(std::move(run));
      if (!result.ran) continue;
      reports.push_back(&result.reports);
      outcome_.printed += result.printed;
      logs.push_back(&result.gm_log);
    }
    auto found = merge(reports);
    if (launch_.checks && logs.size() == team_.places.size() && logs.size() > 1)
      for (const GmConflict& c : conflicts(logs, kShownConflicts)) add_conflict(found, c);
    const bool failed = std::any_of(found.begin(), found.end(), [](const Diagnostic& d) { return d.error; });
    if (launch_.checks && !failed && outcome_.diagnostics.empty())
      for (const GmRange& range : memory_.ranges()) add_gap(found, logs, range);
    outcome_.diagnostics.insert(outcome_.diagnostics.end(), found.begin(), found.end());
    std::stable_sort(outcome_.diagnostics.begin(), outcome_.diagnostics.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.error && !b.error; });
  }

  // Tails that nobody handles.
  static void add_gap(std::vector<Diagnostic>& found, const std::vector<GmLog*>& logs, const GmRange& range) {
    if (!range.output) return;
    const GmGap gap = unwritten(logs, range);
    if (gap.total == 0) return;
    const auto first = static_cast<std::int64_t>(gap.begin - reinterpret_cast<std::uintptr_t>(range.data));
    found.push_back({false,
                     "unwritten-output",
                     {},
                     0,
                     -1,
                     std::to_string(gap.total) + " of " + std::to_string(range.bytes) + " bytes of " +
                         range.name + " were never written, the first are bytes " + std::to_string(first) +
                         " to " + std::to_string(first + gap.bytes) +
                         ": is the tail of a length that does not divide handled?",
                     1});
  }

  void add_conflict(std::vector<Diagnostic>& found, const GmConflict& c) {
    auto site_at = [&](int core, int n) {
      return results_[static_cast<std::size_t>(core)].sites[static_cast<std::size_t>(n)];
    };
    const AtcSite site = site_at(c.core, c.site), other = site_at(c.other, c.other_site);
    for (Diagnostic& d : found)
      if (d.rule == "core-conflict" && d.line == site.line && site.file != nullptr && d.file == site.file) {
        ++d.times;
        return;
      }
    const GmRange* range = memory_.find(reinterpret_cast<const void*>(c.begin));
    const auto first = static_cast<std::int64_t>(
        c.begin - (range == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(range->data)));
    const std::string where = "bytes " + std::to_string(first) + " to " +
                              std::to_string(first + static_cast<std::int64_t>(c.end - c.begin)) + " of " +
                              (range == nullptr ? std::string("Global Memory") : range->name);
    std::string text;
    if (c.line_only)
      text = "cores " + std::to_string(c.core) + " and " + std::to_string(c.other) + " (" + place(other) +
             ") store scalars to one cache line of 64 bytes, " + where +
             ": the line of one of them is lost. Give each core whole lines, or copy with DataCopyPad";
    else
      text = "cores " + std::to_string(c.core) + " and " + std::to_string(c.other) + " (" + place(other) +
             ") " + (c.use == GmUse::Read || c.other_use == GmUse::Read ? "read and write " : "both write ") +
             where +
             " and nothing orders them: the result depends on which comes first. Give each core its own "
             "part, use atomics, or SyncAll";
    found.push_back({true, "core-conflict", site.file == nullptr ? std::string() : site.file, site.line,
                     c.core, text, 1});
  }

  const soc::Chip& chip_;
  const Launch& launch_;
  ThreadPool& pool_;
  GmMap memory_;
  Team team_;
  Shape shape_;
  Outcome outcome_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<Result> results_;
  std::vector<std::vector<aicore::TraceEvent>> traces_;
};

}  // namespace

int npu_arch(const soc::Chip& chip) {
  if (chip.split) return 2201;
  if (chip.name.rfind("Ascend310P", 0) == 0) return 2002;
  if (chip.name.rfind("Ascend310B", 0) == 0) return 3002;
  return 1001;
}

Outcome run(const soc::Chip& chip, const Launch& launch, ThreadPool& pool) {
  return Run(chip, launch, pool)();
}

}  // namespace atc::ascendc
