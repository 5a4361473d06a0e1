#include "om/kernel_list.h"

#include <set>

#include "om/container.h"
#include "om/little_endian.h"

namespace atc::om {
namespace {
constexpr std::uint32_t kItemMagic = 0x5D776EFD;
}  // namespace

std::string encode_kernel_list(const plan::Plan& plan) {
  std::set<std::string> names;
  for (const plan::PlanTask& task : plan.tasks)
    if (task.engine == plan::Engine::AiCore) names.insert(task.kernel.kernel);
  std::string out;
  for (const std::string& name : names) {
    put(out, kItemMagic);
    put(out, static_cast<std::uint32_t>(name.size()));
    put(out, std::uint32_t{0});
    out += name;
  }
  return out;
}

StatusOr<std::vector<std::string>> decode_kernel_list(std::span<const std::byte> section) {
  std::vector<std::string> names;
  ByteReader reader(section);
  while (reader.left() > 0) {
    const auto magic = reader.read<std::uint32_t>();
    const auto name_bytes = reader.read<std::uint32_t>();
    const auto binary_bytes = reader.read<std::uint32_t>();
    names.push_back(reader.text(name_bytes));
    reader.take(binary_bytes);
    if (!reader.ok() || magic != kItemMagic)
      return broken("item " + std::to_string(names.size() - 1) + " of TBE_KERNELS is malformed");
  }
  return names;
}

}  // namespace atc::om
