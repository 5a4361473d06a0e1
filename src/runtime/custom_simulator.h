#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/custom_runner.h"
#include "runtime/simulate.h"

namespace atc::runtime {

/// Times of custom tasks, by running their kernels on seeded data in a child process; equal tasks once.
class CustomSimulator {
 public:
  explicit CustomSimulator(const PreparedPlan& prepared) : prepared_(prepared) {}
  StatusOr<TaskSimulation> run(std::size_t task);

 private:
  Status start();
  StatusOr<custom::LaunchStats> launch(std::size_t index);

  const PreparedPlan& prepared_;
  std::shared_ptr<custom::SharedMemory> memory_;
  std::unique_ptr<CustomRunner> runner_;
  std::map<std::string, custom::LaunchStats> known_;  // by all that a launch depends on
};

}  // namespace atc::runtime
