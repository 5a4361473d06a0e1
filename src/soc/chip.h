#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"

namespace atc::soc {

/// What the compiler and the simulator know of one chip. Sizes in bytes, rates in bytes per cycle and
/// core, frequencies in MHz. Sources of the numbers: the platform files that CANN ships and the
/// Ascend C programming guide (see chips.cc).
struct Chip {
  std::string_view name;  ///< as --soc_version takes it: "Ascend910B3"
  int cube_cores = 0;     ///< AI Cores (with a cube unit)
  int vector_cores = 0;   ///< separate vector cores; 0 when each AI Core has its own vector unit only
  bool split = false;     ///< cube and vector units are separate cores (910B, A3)
  int cube_mhz = 0;
  int vector_mhz = 0;
  std::int64_t ub = 0, l1 = 0, l0a = 0, l0b = 0, l0c = 0;  ///< capacities
  std::int64_t l2 = 0;
  std::int64_t global_memory = 0;
  int gm_mbps = 0;                  ///< what GM (HBM, DDR) sustains, MB/s, shared by the cores at work
  int ddr_read = 0, ddr_write = 0;  ///< GM per core, at most
  int l2_read = 0, l2_write = 0;    ///< GM through L2 per core; cube_cores times these for the chip
  int l1_to_l0a = 0, l1_to_l0b = 0;
  int l0c_out = 0;  ///< L0C to UB or, on split cores, Fixpipe
  int ub_write_l2 = 0, ub_write_ddr = 0;
  int vector_bytes = 256;    ///< processed in a cycle by the vector unit
  int cube_macs_f16 = 4096;  ///< multiply-accumulates in a cycle, fp16
  bool cube_f32 = false;     ///< the cube takes fp32 operands; else a named extension here
  bool bf16 = false;
  int ai_cpus = 4;
  /// From one task of a loaded model to the next: launch_us + blocks * launch_block_us.
  double launch_us = 0, launch_block_us = 0;
  bool fixpipe = true;  ///< L0C leaves by a pipe of its own; false: through the vector unit

  /// Cores that run a task of vector work only / cube work.
  int vector_blocks() const { return split ? vector_cores : cube_cores; }
  int cube_blocks() const { return cube_cores; }
};

/// Every chip, sorted by name.
const std::vector<Chip>& chips();
/// E10001 naming --soc_version, the list, and the nearest name.
StatusOr<const Chip*> find_chip(std::string_view soc_version);

}  // namespace atc::soc
