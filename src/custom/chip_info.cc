#include "custom/chip_info.h"

namespace atc::custom {

std::uint64_t system_workspace(const soc::Chip& chip) {
  // Split parts exchange messages and tiles between their cores there.
  return chip.split ? std::uint64_t{16} << 20 : std::uint64_t{2} << 20;
}

AtcCustomChip describe(const soc::Chip& chip) {
  const auto bytes = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
  AtcCustomChip out = {};
  out.soc_version = chip.name.data();  // names of the chip table are literals
  out.cube_cores = static_cast<std::uint32_t>(chip.cube_cores);
  out.vector_cores = static_cast<std::uint32_t>(chip.vector_blocks());
  out.split = chip.split ? 1 : 0;
  out.ub = bytes(chip.ub);
  out.l1 = bytes(chip.l1);
  out.l0a = bytes(chip.l0a);
  out.l0b = bytes(chip.l0b);
  out.l0c = bytes(chip.l0c);
  out.l2 = bytes(chip.l2);
  out.global_memory = bytes(chip.global_memory);
  out.system_workspace = system_workspace(chip);
  return out;
}

}  // namespace atc::custom
