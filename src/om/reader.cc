#include "om/reader.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "atc/base/sha256.h"
#include "om/container.h"
#include "om/inout_info.h"
#include "om/kernel_list.h"
#include "om/task_info.h"

namespace atc::om {
namespace {

constexpr std::uintptr_t kWeightAlignment = 64;

/// The weight section; empty when the plan has no weights.
StatusOr<Bytes> load_weights(const Container& container, const plan::Plan& plan) {
  const Partition* section = container.find(Section::WeightsData);
  const std::uint64_t size = section == nullptr ? 0 : section->size;
  if (size != static_cast<std::uint64_t>(plan.weight_bytes))
    return broken("section WEIGHTS_DATA has " + std::to_string(size) + " bytes, the plan expects " +
                  std::to_string(plan.weight_bytes));
  if (size == 0) return Bytes();
  if (section->offset % kPageBytes != 0)
    return broken("section WEIGHTS_DATA starts at byte " + std::to_string(section->offset) +
                  " of the file, which is not a multiple of 4096");
  Bytes weights = *container.payload(Section::WeightsData);
  if (reinterpret_cast<std::uintptr_t>(weights.data()) % kWeightAlignment == 0) return weights;
  // A file that came from elsewhere than a mapping (a pipe, a caller's buffer).
  return Bytes::copy_of(weights.span());
}

/// Every template that a task uses must be listed; embedded libraries get their bytes, which must be those
/// that were written.
Status bind_kernel_list(const Container& container, plan::Plan& plan) {
  const auto section = container.payload(Section::Kernels);
  std::vector<KernelItem> items;
  if (section) {
    ATC_ASSIGN(items, decode_kernel_list(section->span()));
  }
  const auto find = [&](const std::string& name) {
    return std::find_if(items.begin(), items.end(),
                        [&](const KernelItem& item) { return item.name == name; });
  };
  for (const plan::PlanTask& task : plan.tasks) {
    if (task.engine != plan::Engine::AiCore) continue;
    if (find(task.kernel.kernel) == items.end())
      return broken("task '" + task.name + "' uses kernel '" + task.kernel.kernel +
                    "', which section TBE_KERNELS does not list");
  }
  for (plan::PlanLibrary& library : plan.libraries) {
    if (!library.path.empty()) continue;  // not embedded
    const auto item = find(library_item(library));
    if (item == items.end())
      return broken("the library " + library.name + " of custom operators is not in section TBE_KERNELS");
    if (const std::string hash = sha256(item->binary); hash != library.sha256)
      return broken("the embedded library " + library.name + " has the SHA-256 " + hash +
                    ", the plan expects " + library.sha256);
    library.bytes = section->subspan(static_cast<std::size_t>(item->binary.data() - section->data()),
                                     item->binary.size());
  }
  return {};
}

}  // namespace

StatusOr<LoadedOm> load_om(const Bytes& file) {
  ATC_ASSIGN(const Container container, open_container(file));
  const auto task_info = container.payload(Section::TaskInfo);
  if (!task_info) return broken("there is no section TASK_INFO: the file holds no plan to run");
  LoadedOm out;
  ATC_ASSIGN(out.plan, decode_task_info(task_info->span()));
  ATC_ASSIGN(out.weights, load_weights(container, out.plan));
  ATC_TRY(bind_kernel_list(container, out.plan));
  if (const auto info = container.payload(Section::ModelInOutInfo)) {
    const auto tensors = decode_inout_info(info->span());
    if (!tensors.ok()) return tensors.status();
  }
  ATC_TRY(plan::validate(out.plan));
  return out;
}

}  // namespace atc::om
