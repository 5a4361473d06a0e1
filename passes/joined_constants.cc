#include "passes/joined_constants.h"

#include <cstring>
#include <string>
#include <utility>

namespace atc::passes {

using ir::Value;

Value* side_by_side(ir::Graph& graph, const std::vector<const Value*>& parts) {
  const DType dtype = parts[0]->type.dtype;
  const std::size_t element = static_cast<std::size_t>(bit_width(dtype)) / 8;
  Dims dims = parts[0]->type.dims();
  dims.back() = 0;
  std::string name;
  std::vector<std::pair<Bytes, std::size_t>> sources;  // with the bytes of a row
  for (const Value* v : parts) {
    const std::int64_t columns = v->type.dims().back();
    dims.back() += columns;
    name += (name.empty() ? "" : "+") + v->name();
    sources.emplace_back(v->constant().data, static_cast<std::size_t>(columns) * element);
  }
  Tensor out{dtype, dims, {}, {}};
  out.data = Bytes::deferred(out.byte_size(), [sources = std::move(sources)](std::span<std::byte> to) {
    std::vector<Bytes> at_hand;
    for (const auto& [bytes, row] : sources) at_hand.push_back(bytes.resolved());
    std::byte* const end = to.data() + to.size();
    std::size_t r = 0;
    for (std::byte* next = to.data(); next != end; ++r)
      for (std::size_t i = 0; i < sources.size(); ++i) {
        std::memcpy(next, at_hand[i].data() + r * sources[i].second, sources[i].second);
        next += sources[i].second;
      }
  });
  return graph.add_constant(name, std::move(out));
}

}  // namespace atc::passes
