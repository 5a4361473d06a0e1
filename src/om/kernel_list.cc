#include "om/kernel_list.h"

#include <map>

#include "om/container.h"
#include "om/little_endian.h"

namespace atc::om {
namespace {
constexpr std::uint32_t kItemMagic = 0x5D776EFD;
}  // namespace

std::string library_item(const plan::PlanLibrary& library) { return "custom/" + library.sha256 + ".so"; }

std::string encode_kernel_list(const plan::Plan& plan) {
  std::map<std::string, std::span<const std::byte>> items;
  for (const plan::PlanTask& task : plan.tasks)
    if (task.engine == plan::Engine::AiCore) items[task.kernel.kernel] = {};
  for (const plan::PlanLibrary& library : plan.libraries)
    if (!library.bytes.empty()) items[library_item(library)] = library.bytes.span();
  std::string out;
  for (const auto& [name, binary] : items) {
    put(out, kItemMagic);
    put(out, static_cast<std::uint32_t>(name.size()));
    put(out, static_cast<std::uint32_t>(binary.size()));
    out += name;
    out.append(reinterpret_cast<const char*>(binary.data()), binary.size());
  }
  return out;
}

StatusOr<std::vector<KernelItem>> decode_kernel_list(std::span<const std::byte> section) {
  std::vector<KernelItem> items;
  ByteReader reader(section);
  while (reader.left() > 0) {
    const auto magic = reader.read<std::uint32_t>();
    const auto name_bytes = reader.read<std::uint32_t>();
    const auto binary_bytes = reader.read<std::uint32_t>();
    KernelItem& item = items.emplace_back();
    item.name = reader.text(name_bytes);
    item.binary = reader.take(binary_bytes);
    if (!reader.ok() || magic != kItemMagic)
      return broken("item " + std::to_string(items.size() - 1) + " of TBE_KERNELS is malformed");
  }
  return items;
}

}  // namespace atc::om
