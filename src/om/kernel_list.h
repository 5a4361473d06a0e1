#pragma once

#include <span>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "plan/plan.h"

namespace atc::om {

/// Section TBE_KERNELS: one item for each kernel template that the plan's AI Core tasks use, sorted by
/// name. Built-in templates have no binary. Empty when the plan has no AI Core task.
std::string encode_kernel_list(const plan::Plan& plan);

/// Names of the items. E10041 when an item is malformed or leaves the section.
StatusOr<std::vector<std::string>> decode_kernel_list(std::span<const std::byte> section);

}  // namespace atc::om
