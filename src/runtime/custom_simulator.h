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
  CustomSimulator(const PreparedPlan& prepared, bool profile) : prepared_(prepared), profile_(profile) {}
  StatusOr<TaskSimulation> run(std::size_t task);

 private:
  Status start();
  StatusOr<custom::LaunchStats> launch(std::size_t index);

  const PreparedPlan& prepared_;
  const bool profile_;
  std::shared_ptr<custom::SharedMemory> memory_;
  std::unique_ptr<CustomRunner> runner_;
  struct Known {
    custom::LaunchStats stats;
    std::vector<profile::CoreProfile> cores;
  };
  std::map<std::string, Known> known_;  // by all that a launch depends on
};

}  // namespace atc::runtime
