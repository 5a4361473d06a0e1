#include "ops/input_parts.h"

#include "atc/base/check.h"

namespace atc::ops {

namespace {

constexpr const char* kParts = "parts";  // Ints

}  // namespace

std::map<std::size_t, InputPart> input_parts(const ir::Node& node) {
  std::map<std::size_t, InputPart> parts;
  const Dims list = node.attrs.get_ints(kParts);
  for (auto at = list.begin(); at != list.end();) {
    ATC_CHECK(list.end() - at >= 3 && at[1] >= 0 && list.end() - at >= 3 + 2 * at[1],
              node.label() + " has an incomplete list of parts");
    InputPart& v = parts[static_cast<std::size_t>(at[0])];
    const std::int64_t rank = at[1];
    v.first = at[2];
    v.dims.assign(at + 3, at + 3 + rank);
    v.strides.assign(at + 3 + rank, at + 3 + 2 * rank);
    at += 3 + 2 * rank;
  }
  return parts;
}

void set_input_parts(ir::Node& node, const std::map<std::size_t, InputPart>& parts) {
  Dims list;
  for (const auto& [input, part] : parts) {
    list.insert(list.end(), {static_cast<std::int64_t>(input), std::ssize(part.dims), part.first});
    list.insert(list.end(), part.dims.begin(), part.dims.end());
    list.insert(list.end(), part.strides.begin(), part.strides.end());
  }
  node.attrs.set(kParts, std::move(list));
}

}  // namespace atc::ops
