#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ascendc/launch.h"
#include "atc/base/status.h"
#include "profile/launch_profile.h"

namespace atc::custom {

/// Profiles of the kernels that a program launches: what omrun --profile writes for a model, for kernels
/// alone.
class KernelProfile {
 public:
  KernelProfile(const soc::Chip& chip, std::filesystem::path folder)
      : chip_(chip), folder_(std::move(folder)) {}

  /// Adds a launch that ran with `trace` and writes PipeUtilization.csv and trace.json anew: a program may
  /// end at any launch. Errors as of write_file.
  Status add(const std::string& kernel, const ascendc::Outcome& outcome, int blocks);

  /// What bounds the last launch and what to try, for people.
  std::string verdict() const;

 private:
  const soc::Chip& chip_;
  std::filesystem::path folder_;
  std::vector<profile::LaunchProfile> launches_;
};

}  // namespace atc::custom
