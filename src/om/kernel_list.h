#pragma once

#include <span>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "plan/plan.h"

namespace atc::om {

/// Section TBE_KERNELS: one item for each kernel template that the plan's AI Core tasks use, without a
/// binary, and one for each embedded library of custom operators, with its bytes; sorted by name. Empty when
/// there is none.
std::string encode_kernel_list(const plan::Plan& plan);

/// The item that holds a library.
std::string library_item(const plan::PlanLibrary& library);

struct KernelItem {
  std::string name;
  std::span<const std::byte> binary;
};
/// E10041 when an item is malformed or leaves the section.
StatusOr<std::vector<KernelItem>> decode_kernel_list(std::span<const std::byte> section);

}  // namespace atc::om
