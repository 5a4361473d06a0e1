#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "kernels/cube_search.h"

namespace atc::kernels {

/// A plan as a bank keeps it: the fields that the search chooses; the others follow from the task.
struct BankEntry {
  std::string kernel;  ///< template
  CubeTileSize tile;
  std::int64_t k_chunk = 1;
  int a_buffers = 2, b_buffers = 2, l0c_buffers = 2, images = 1;
  bool rows_inner = false;
  double us = 0, default_us = 0;  ///< modelled with this plan, and with the one of the usual search
  bool same_plan(const CubePlan& plan) const;
  static BankEntry of(std::string kernel, const CubePlan& plan);
};

/// Plans that a tuning has found, by the key of their task (plan_choice.h). Any number of threads may use it.
class PlanBank {
 public:
  /// `tunes`: choose_plan adds what is not in the bank, by a search of all plans.
  explicit PlanBank(bool tunes = false) : tunes_(tunes) {}

  bool tunes() const { return tunes_; }
  std::optional<BankEntry> find(const std::string& key) const;
  void put(const std::string& key, BankEntry entry);
  /// Notes that a task has taken the plan of this key.
  void take(const std::string& key);
  bool taken(const std::string& key) const;
  std::map<std::string, BankEntry> entries() const;
  std::set<std::string> all_taken() const;

 private:
  mutable std::mutex mutex_;
  bool tunes_;
  std::map<std::string, BankEntry> entries_;
  std::set<std::string> taken_;
};

/// The bank that choose_plan asks, as long as a scope of one lives; nullptr without. Scopes nest.
PlanBank* current_plan_bank();

class PlanBankScope {
 public:
  explicit PlanBankScope(PlanBank& bank);
  ~PlanBankScope();
  PlanBankScope(const PlanBankScope&) = delete;
  PlanBankScope& operator=(const PlanBankScope&) = delete;

 private:
  PlanBank* before_;
};

}  // namespace atc::kernels
