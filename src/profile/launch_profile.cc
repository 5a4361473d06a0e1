#include "profile/launch_profile.h"

namespace atc::profile {

double launch_us(const soc::Chip& chip, int blocks) { return chip.launch_us + chip.launch_block_us * blocks; }

CoreUse use_of(const CoreProfile& core) {
  CoreUse use;
  for (const CoreProfile::Placed& block : core.blocks) use += block.trace->use;
  return use;
}

LaunchUse use_of(const LaunchProfile& launch) {
  LaunchUse use{launch.us, launch.launch_us, launch.blocks, launch.chip_cores, {}};
  for (const CoreProfile& core : launch.cores) use.cores.push_back(use_of(core));
  return use;
}

}  // namespace atc::profile
