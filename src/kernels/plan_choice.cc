#include "kernels/plan_choice.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "atc/base/sha256.h"
#include "kernels/block_count.h"
#include "kernels/cube_conv_tiling.h"
#include "kernels/cube_matmul_tiling.h"
#include "kernels/kernel_list.h"
#include "kernels/plan_bank.h"

namespace atc::kernels {
namespace {

// A process that compiles for ever starts anew then.
constexpr std::size_t kMostPlans = 1 << 14;
// Plans of fewest cycles whose whole task is simulated when tuning.
constexpr std::size_t kTunedFinalists = 12;

using Key = std::pair<std::string, std::vector<std::int64_t>>;  // template and chip, numbers

struct Memo {
  std::mutex mutex;
  std::map<Key, CubePlan> plans;
};

Memo& memo() {
  static Memo instance;
  return instance;
}

Key key_of(std::string_view kernel, std::vector<std::int64_t> params, const std::vector<Operand>& operands,
           const soc::Chip& chip) {
  for (const Operand& o : operands) {
    params.push_back(o.bytes);
    params.push_back(static_cast<std::int64_t>(o.dtype));
    params.push_back(o.output ? 1 : 0);
  }
  for (const std::int64_t v :
       {chip.ub, chip.l1, chip.l0a, chip.l0b, chip.l0c, chip.l2, std::int64_t{chip.cube_cores},
        std::int64_t{chip.cube_mhz}, std::int64_t{chip.gm_mbps}, std::int64_t{chip.ddr_read},
        std::int64_t{chip.l2_read}, std::int64_t{chip.l1_to_l0a}, std::int64_t{chip.l1_to_l0b},
        std::int64_t{chip.l0c_out}, std::int64_t{chip.ub_write_l2}, std::int64_t{chip.ub_write_ddr},
        std::int64_t{chip.vector_bytes}})
    params.push_back(v);  // a name alone is not what a chip can do
  return {std::string(kernel) + " " + std::string(chip.name), std::move(params)};
}

std::string digest(const Key& key) {
  std::vector<std::byte> bytes(key.first.size() + 1);
  std::transform(key.first.begin(), key.first.end(), bytes.begin(),
                 [](char c) { return static_cast<std::byte>(c); });
  for (const std::int64_t value : key.second)
    for (int shift = 0; shift < 64; shift += 8)
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> shift & 0xff));
  return sha256(bytes);
}

CubePlan usual_plan(const PlanQuestion& q, const Key& key) {
  {
    const std::lock_guard lock(memo().mutex);
    if (const auto it = memo().plans.find(key); it != memo().plans.end()) return it->second;
  }
  std::vector<CubePlan> plans = q.plans(true);
  const CubePlan plan = plans.empty() ? CubePlan{} : best_plan(std::move(plans), kFinalists, q.simulate);
  const std::lock_guard lock(memo().mutex);
  if (memo().plans.size() >= kMostPlans) memo().plans.clear();
  memo().plans.emplace(key, plan);
  return plan;
}

/// Microseconds of a whole task that has `plan`, with the launch, on as many cores as suit it.
double task_us(const PlanQuestion& q, const CubePlan& plan) {
  Task task = q.task(plan);
  BlockCount(q.chip).choose(task);
  const auto kernel = find_kernel(task.kernel)->prepare(task, q.chip);
  ATC_CHECK(kernel.ok(), "a plan of the search makes no task: " + kernel.status().diagnostic().message);
  std::vector<aicore::Gm> gm;
  for (const Operand& o : task.operands)
    gm.push_back({nullptr, o.bytes, false, o.bytes <= q.chip.l2 / 2 ? 0 : 1000});
  gm[0].ddr_permille = plan.a_far;
  gm[1].ddr_permille = plan.b_far;
  aicore::Core core(q.chip, aicore::Values::None, true);
  aicore::Cycle longest = 0;
  for (std::size_t b = 0; b + 1 < task.block_tiles.size(); ++b) {
    core.start_block(task.blocks());
    (*kernel)->run(core, gm, task.block_tiles[b], task.block_tiles[b + 1]);
    longest = std::max(longest, core.stats().cycles);
  }
  return q.chip.launch_us + task.blocks() * q.chip.launch_block_us +
         static_cast<double>(longest) / q.chip.cube_mhz;
}

/// The best of all plans; ties go to the usual one, then to the earlier.
CubePlan tuned_plan(const PlanQuestion& q, const CubePlan& usual, BankEntry& entry) {
  std::vector<CubePlan> plans = q.plans(false);
  for (CubePlan& plan : plans) plan.cycles = q.simulate(plan);
  std::stable_sort(plans.begin(), plans.end(),
                   [](const CubePlan& a, const CubePlan& b) { return a.cycles < b.cycles; });
  plans.resize(std::min(plans.size(), kTunedFinalists));
  CubePlan best = usual;
  const double usual_us = task_us(q, usual);
  double lowest = usual_us;
  for (const CubePlan& plan : plans) {
    const double us = task_us(q, plan);
    if (us >= lowest) continue;
    lowest = us;
    best = plan;
  }
  entry = BankEntry::of(std::string(q.kernel), best);
  entry.us = lowest;
  entry.default_us = usual_us;
  return best;
}

/// The one of the task's plans that an entry of the bank names.
StatusOr<CubePlan> plan_of(const PlanQuestion& q, const BankEntry& entry, const std::string& key) {
  const std::vector<CubePlan> plans = q.plans(false);
  const auto found =
      std::find_if(plans.begin(), plans.end(), [&](const CubePlan& p) { return entry.same_plan(p); });
  if (entry.kernel == q.kernel && found != plans.end()) return *found;
  return Status::error("E10001", "The bank of tuned tiles has a plan for task " + key +
                                     " that does not suit it: " + entry.kernel + ", " +
                                     std::to_string(entry.tile.m) + " x " +
                                     std::to_string(entry.tile.panels * 16) + ".")
      .solution("Delete the entry or the bank file, and tune again with aoe.");
}

}  // namespace

std::string plan_key(const PlanQuestion& q) { return digest(key_of(q.kernel, q.params, q.operands, q.chip)); }

std::optional<std::string> plan_key(const Task& task, const soc::Chip& chip) {
  std::vector<std::int64_t> params;
  if (MatMulTiling t; task.kernel == kMatMulKernel && unpack_matmul(task, t).ok()) {
    MatMulTiling bare;
    bare.spec = t.spec;
    params = matmul_params(bare);
  } else if (ConvTiling c; task.kernel == kConvKernel && unpack_conv(task, c).ok()) {
    params = conv_params(conv_tiling(c.spec));
  } else {
    return std::nullopt;
  }
  return digest(key_of(task.kernel, std::move(params), task.operands, chip));
}

StatusOr<CubePlan> choose_plan(const PlanQuestion& q) {
  const Key key = key_of(q.kernel, q.params, q.operands, q.chip);
  PlanBank* bank = current_plan_bank();
  if (bank == nullptr) return usual_plan(q, key);
  const std::string name = digest(key);
  if (const auto entry = bank->find(name)) {
    bank->take(name);
    return plan_of(q, *entry, name);
  }
  const CubePlan usual = usual_plan(q, key);
  if (!bank->tunes() || usual.cycles == 0) return usual;
  BankEntry entry;
  CubePlan plan = tuned_plan(q, usual, entry);
  bank->put(name, std::move(entry));
  bank->take(name);
  return plan;
}

}  // namespace atc::kernels
