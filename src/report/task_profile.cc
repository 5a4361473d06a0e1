#include "report/task_profile.h"

namespace atc::report {

profile::LaunchProfile profile_of(const plan::PlanTask& task, const runtime::TaskSimulation& simulated,
                                  const soc::Chip& chip, double start_us) {
  const bool cube = simulated.engine == "cube";
  profile::LaunchProfile launch;
  launch.name = task.name;
  launch.type = task.op_type;
  launch.start_us = start_us;
  launch.us = simulated.us;
  launch.blocks = simulated.blocks;
  launch.mhz = cube ? chip.cube_mhz : chip.vector_mhz;
  launch.chip_cores = cube ? chip.cube_blocks() : chip.vector_blocks();
  launch.cores = simulated.cores;
  if (!launch.cores.empty()) launch.launch_us = profile::launch_us(chip, simulated.blocks);
  return launch;
}

}  // namespace atc::report
