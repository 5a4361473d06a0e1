#pragma once

#include <span>
#include <string>

#include "atc/base/status.h"
#include "plan/plan.h"

namespace atc::om {

/// Section TASK_INFO: the whole plan as domi.ModelTaskDef (FORMAT.md). E13023 beyond 2 GiB.
StatusOr<std::string> encode_task_info(const plan::Plan& plan);

/// The plan of a TASK_INFO section. E10041 when the bytes are not such a message, the version is not
/// ours, or a field has a value outside its type; everything else is plan::validate's.
StatusOr<plan::Plan> decode_task_info(std::span<const std::byte> section);

}  // namespace atc::om
