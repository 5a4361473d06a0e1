#include "kernels/plan_bank.h"

#include <atomic>
#include <tuple>
#include <utility>

namespace atc::kernels {
namespace {

std::atomic<PlanBank*> current{nullptr};

template <class Plan>
auto choices(const Plan& p) {
  return std::tie(p.tile.m, p.tile.panels, p.tile.k_slice, p.k_chunk, p.a_buffers, p.b_buffers, p.l0c_buffers,
                  p.images, p.rows_inner);
}

}  // namespace

bool BankEntry::same_plan(const CubePlan& plan) const { return choices(*this) == choices(plan); }

BankEntry BankEntry::of(std::string kernel, const CubePlan& plan) {
  return {std::move(kernel),
          plan.tile,
          plan.k_chunk,
          plan.a_buffers,
          plan.b_buffers,
          plan.l0c_buffers,
          plan.images,
          plan.rows_inner,
          0,
          0};
}

std::optional<BankEntry> PlanBank::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(key);
  return it == entries_.end() ? std::nullopt : std::optional(it->second);
}

void PlanBank::put(const std::string& key, BankEntry entry) {
  const std::lock_guard lock(mutex_);
  entries_[key] = std::move(entry);
}

void PlanBank::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  taken_.insert(key);
}

bool PlanBank::taken(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return taken_.count(key) != 0;
}

std::map<std::string, BankEntry> PlanBank::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

std::set<std::string> PlanBank::all_taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

PlanBank* current_plan_bank() { return current.load(); }

PlanBankScope::PlanBankScope(PlanBank& bank) : before_(current.exchange(&bank)) {}
PlanBankScope::~PlanBankScope() { current.store(before_); }

}  // namespace atc::kernels
