#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ascendc/launch.h"
#include "atc/base/status.h"
#include "custom/launch.h"
#include "profile/launch_profile.h"

namespace atc::custom {

/// The traced blocks of a launch, by the cores that ran them; takes its events.
std::vector<profile::CoreProfile> cores_of(LaunchStats& stats);

/// Profiles of the kernels that a program launches: what omrun --profile writes for a model, for kernels
/// alone.
class KernelProfile {
 public:
  KernelProfile(const soc::Chip& chip, std::filesystem::path folder)
      : chip_(chip), folder_(std::move(folder)) {}

  /// Adds a launch that ran with `trace` and writes PipeUtilization.csv and trace.json anew: a program may
  /// end at any launch. Errors as of write_file.
  Status add(const std::string& kernel, const ascendc::Outcome& outcome, int blocks);
  /// The same of a launch in a child process; takes its events.
  Status add(const std::string& kernel, LaunchStats& stats, int blocks);

  /// What bounds the last launch and what to try, for people.
  std::string verdict() const;

 private:
  Status add(const std::string& kernel, std::vector<profile::CoreProfile> cores, aicore::Cycle cycles,
             int blocks);
  const soc::Chip& chip_;
  std::filesystem::path folder_;
  std::vector<profile::LaunchProfile> launches_;
};

}  // namespace atc::custom
