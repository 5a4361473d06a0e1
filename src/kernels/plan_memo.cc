#include "kernels/plan_memo.h"

#include <map>
#include <mutex>
#include <string>

namespace atc::kernels {
namespace {

// A process that compiles for ever starts anew then.
constexpr std::size_t kMostPlans = 1 << 14;

struct Memo {
  std::mutex mutex;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, CubePlan> plans;
};

Memo& memo() {
  static Memo instance;
  return instance;
}

}  // namespace

CubePlan remembered_plan(std::vector<std::int64_t> params, const std::vector<Operand>& operands,
                         const soc::Chip& chip, const std::function<CubePlan()>& search) {
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
  const std::pair key(std::string(chip.name), std::move(params));
  {
    const std::lock_guard lock(memo().mutex);
    if (const auto it = memo().plans.find(key); it != memo().plans.end()) return it->second;
  }
  const CubePlan plan = search();
  const std::lock_guard lock(memo().mutex);
  if (memo().plans.size() >= kMostPlans) memo().plans.clear();
  memo().plans.emplace(key, plan);
  return plan;
}

}  // namespace atc::kernels
