#pragma once

#include "atc/custom_op.h"
#include "soc/chip.h"

namespace atc::custom {

/// A workspace's first bytes, which belong to library functions of Ascend C; as GetLibApiWorkSpaceSize says.
std::uint64_t system_workspace(const soc::Chip& chip);

/// The chip as tiling functions see it. Views into `chip`.
AtcCustomChip describe(const soc::Chip& chip);

}  // namespace atc::custom
