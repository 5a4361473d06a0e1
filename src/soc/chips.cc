// The chips as data. Numbers: the platform_config files of CANN and the Ascend C programming guide. Rates are
// bytes per cycle and core as those files give them; where the programming guide gives another figure for the
// split-core parts (L1 to L0A and L0B), the guide's is taken. No file has the bandwidth of a whole chip: the
// split-core parts have the guide's, 310P what DRAM sustains of its board's data sheet, the others what all
// cores' ports move. The files give a core of 310P 17 bytes a cycle of it, 144 GB/s for all; networks that do
// little but read weights are published at more than that, so a core's port is its part of the data sheet.
// Launch: the guide has 20 to 21 us for an empty kernel on all 40 cores of a split-core part, growing with
// the cores; for the others two figures that published single-sample rates of small networks allow. Where no
// file names the memory size (Ascend310, 310B4, 910) it is that of the usual board. The 950 generation has
// another vector unit and is left out.
#include <algorithm>
#include <string>

#include "atc/base/strings.h"
#include "soc/chip.h"

namespace atc::soc {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;

/// Per cent of its peak that DRAM sustains: refresh, row changes and turns between reads and writes take the
/// rest.
constexpr int kDramSustained = 85;

/// First generation training parts: one fused core with cube and vector unit.
constexpr Chip fused_910(std::string_view name, int cores, int mhz) {
  return {.name = name,
          .cube_cores = cores,
          .vector_cores = 0,
          .split = false,
          .cube_mhz = mhz,
          .vector_mhz = mhz,
          .ub = 256 * kKiB,
          .l1 = kMiB,
          .l0a = 64 * kKiB,
          .l0b = 64 * kKiB,
          .l0c = 256 * kKiB,
          .l2 = 32 * kMiB,
          .global_memory = 32 * kGiB,
          .gm_mbps = cores * 32 * mhz,
          .ddr_read = 32,
          .ddr_write = 32,
          .l2_read = 110,
          .l2_write = 86,
          .l1_to_l0a = 512,
          .l1_to_l0b = 256,
          .l0c_out = 256,
          .ub_write_l2 = 64,
          .ub_write_ddr = 64,
          .ai_cpus = 4,
          .launch_us = 1.4,
          .launch_block_us = 0.15,
          .fixpipe = false};
}

/// Inference cards: fused cores beside vector cores of their own.
constexpr Chip fused_310p(std::string_view name, int cores, int vector_cores, int ai_cpus) {
  return {.name = name,
          .cube_cores = cores,
          .vector_cores = vector_cores,
          .split = false,
          .cube_mhz = 1060,
          .vector_mhz = 1000,
          .ub = 256 * kKiB,
          .l1 = kMiB,
          .l0a = 64 * kKiB,
          .l0b = 64 * kKiB,
          .l0c = 256 * kKiB,
          .l2 = 16 * kMiB,
          .global_memory = 24'000'000'000,
          .gm_mbps = kDramSustained * 204'800 / 100,
          .ddr_read = 24,
          .ddr_write = 24,
          .l2_read = 114,
          .l2_write = 114,
          .l1_to_l0a = 512,
          .l1_to_l0b = 256,
          .l0c_out = 512,
          .ub_write_l2 = 114,
          .ub_write_ddr = 24,
          .ai_cpus = ai_cpus,
          .launch_us = 1.4,
          .launch_block_us = 0.15,
          .fixpipe = false};
}

/// Edge parts with one core.
constexpr Chip fused_310b(std::string_view name, int mhz, int ddr, int ub_write_ddr, std::int64_t memory) {
  return {.name = name,
          .cube_cores = 1,
          .vector_cores = 0,
          .split = false,
          .cube_mhz = mhz,
          .vector_mhz = mhz,
          .ub = 248 * kKiB,
          .l1 = kMiB,
          .l0a = 64 * kKiB,
          .l0b = 64 * kKiB,
          .l0c = 128 * kKiB,
          .l2 = 4 * kMiB,
          .global_memory = memory,
          .gm_mbps = ddr * mhz,
          .ddr_read = ddr,
          .ddr_write = ddr,
          .l2_read = 256,
          .l2_write = 128,
          .l1_to_l0a = 512,
          .l1_to_l0b = 256,
          .l0c_out = 128,
          .ub_write_l2 = 128,
          .ub_write_ddr = ub_write_ddr,
          .cube_f32 = true,
          .ai_cpus = 4,
          .launch_us = 1.4,
          .launch_block_us = 0.15};
}

/// 910B and A3: cube cores and twice as many vector cores.
constexpr Chip split_cores(std::string_view name, int cubes, int mhz, std::int64_t l2, std::int64_t memory,
                           int gm_mbps, int ai_cpus = 4) {
  return {.name = name,
          .cube_cores = cubes,
          .vector_cores = 2 * cubes,
          .split = true,
          .cube_mhz = mhz,
          .vector_mhz = mhz,
          .ub = 192 * kKiB,
          .l1 = 512 * kKiB,
          .l0a = 64 * kKiB,
          .l0b = 64 * kKiB,
          .l0c = 128 * kKiB,
          .l2 = l2,
          .global_memory = memory,
          .gm_mbps = gm_mbps,
          .ddr_read = 32,
          .ddr_write = 32,
          .l2_read = 110,
          .l2_write = 86,
          .l1_to_l0a = 256,
          .l1_to_l0b = 128,
          .l0c_out = 256,
          .ub_write_l2 = 64,
          .ub_write_ddr = 64,
          .cube_f32 = true,
          .bf16 = true,
          .ai_cpus = ai_cpus,
          .launch_us = 4.5,
          .launch_block_us = 0.4};
}

/// The first 310: two cores.
constexpr Chip first_310() {
  return {.name = "Ascend310",
          .cube_cores = 2,
          .vector_cores = 0,
          .split = false,
          .cube_mhz = 680,
          .vector_mhz = 680,
          .ub = 248 * kKiB,
          .l1 = kMiB,
          .l0a = 64 * kKiB,
          .l0b = 64 * kKiB,
          .l0c = 256 * kKiB,
          .l2 = 8 * kMiB,
          .global_memory = 8 * kGiB,
          .gm_mbps = 2 * 67 * 680,
          .ddr_read = 67,
          .ddr_write = 64,
          .l2_read = 128,
          .l2_write = 64,
          .l1_to_l0a = 512,
          .l1_to_l0b = 256,
          .l0c_out = 256,
          .ub_write_l2 = 64,
          .ub_write_ddr = 64,
          .ai_cpus = 4,
          .launch_us = 1.4,
          .launch_block_us = 0.15,
          .fixpipe = false};
}

/// Names in the order of their bytes.
std::vector<Chip> all_chips() {
  constexpr std::int64_t kLarge = 64 * kGiB;
  constexpr int kFast = 1'800'000,
                kSlow = 800'000;  // MB/s of HBM, as the programming guide's examples have them
  std::vector<Chip> all = {
      first_310(),
      fused_310b("Ascend310B1", 1224, 17, 128, 32 * kGiB),
      fused_310b("Ascend310B4", 500, 8, 64, 8 * kGiB),
      fused_310p("Ascend310P1", 10, 8, 8),
      fused_310p("Ascend310P3", 8, 7, 16),
      fused_910("Ascend910", 32, 1000),  // the older name of 910A
      fused_910("Ascend910A", 32, 1000),
      fused_910("Ascend910B", 30, 900),  // not the later 910B1 to B4
      fused_910("Ascend910ProB", 30, 1150),
      split_cores("Ascend910B1", 24, 1850, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910B2", 24, 1800, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910B2C", 24, 1800, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910B3", 20, 1800, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910B4", 20, 1500, 96 * kMiB, 32 * kGiB, kSlow),
      split_cores("Ascend910B4-1", 20, 1500, 168 * kMiB, 32 * kGiB, kSlow),
      // A3: the third digit is the grade, the last one the package. 9391, 9382 and 9362 are in the platform
      // files; their twins have the same die, and grade 7 is taken to be that of the 910B3.
      split_cores("Ascend910_9362", 20, 1500, 168 * kMiB, 32 * kGiB, kSlow),
      split_cores("Ascend910_9372", 20, 1800, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910_9381", 24, 1800, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910_9382", 24, 1800, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910_9391", 24, 1850, 192 * kMiB, kLarge, kFast),
      split_cores("Ascend910_9392", 24, 1850, 192 * kMiB, kLarge, kFast),
  };
  std::sort(all.begin(), all.end(), [](const Chip& a, const Chip& b) { return a.name < b.name; });
  return all;
}

}  // namespace

const std::vector<Chip>& chips() {
  static const std::vector<Chip> all = all_chips();
  return all;
}

StatusOr<const Chip*> find_chip(std::string_view soc_version) {
  std::vector<std::string> names;
  for (const Chip& chip : chips()) {
    if (chip.name == soc_version) return &chip;
    names.emplace_back(chip.name);
  }
  const std::string near = nearest(soc_version, names);
  std::string message =
      "Value " + std::string(soc_version) + " for parameter --soc_version is invalid. Reason: ";
  message += near.empty() ? "it is not the name of a known chip."
                          : "no chip has this name, the nearest is " + near + ".";
  return Status::error("E10001", std::move(message))
      .note("known names: " + join(names, ", "))
      .solution(near.empty()
                    ? "Give the chip's full name as npu-smi info shows it, with Ascend before it."
                    : "Use --soc_version=" + near +
                          " if that is the chip; letter case counts and a family's name is not enough.");
}

}  // namespace atc::soc
