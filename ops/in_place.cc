#include "ops/in_place.h"

#include "ops/element_view.h"
#include "ops/input_parts.h"
#include "ops/move.h"
#include "ops/op.h"

namespace atc::ops {
namespace {

using ir::Node;
using ir::Value;

constexpr const char* kInPlace = "in_place";  // Ints

std::int64_t storage_elements(const Value& v) { return element_count(storage_dims_of(&v)); }

std::int64_t in_bytes(std::int64_t elements, const Value& v) {
  return elements * bit_width(v.type.dtype) / 8;
}

// Neighbours along an axis are stretches when no axis outside it is longer than 1.
template <class Parts>
std::optional<std::vector<std::int64_t>> along_axis(const Node& n, const Value& whole, const Parts& parts) {
  const Dims storage = storage_dims_of(&whole);
  const auto axis = normalize_axis(n.attrs.get_int("axis", n.is("Concat") && n.version < 4 ? 1 : 0),
                                   std::ssize(whole.type.dims()));
  if (!axis || std::any_of(storage.begin(), storage.begin() + *axis, [](std::int64_t d) { return d != 1; }))
    return std::nullopt;
  const std::map<std::size_t, InputPart> read_in_part = input_parts(n);
  std::vector<std::int64_t> offsets;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == nullptr || parts[i]->type.format != whole.type.format) return std::nullopt;
    offsets.push_back(in_bytes(at, whole));
    const auto part = read_in_part.find(i);
    at += part != read_in_part.end() ? element_count(part->second.dims) : storage_elements(*parts[i]);
  }
  return offsets;
}

std::optional<std::int64_t> offset_of_slice(const Node& n) {
  const Value& x = *n.input(0);
  const Value& y = *n.output(0);
  if (x.type.format != ir::Format::ND || y.type.format != ir::Format::ND) return std::nullopt;
  const auto view = slice_element_view(n);
  if (!view) return std::nullopt;
  const Dims dims = y.type.dims();
  std::int64_t run = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 1) continue;
    if (view->strides[d] != run) return std::nullopt;
    run *= dims[d];
  }
  return in_bytes(view->first, x);
}

}  // namespace

std::optional<std::vector<std::int64_t>> part_offsets(const Node& n) {
  if (is_concat(n)) return along_axis(n, *n.output(0), n.inputs());
  if (n.is("Split")) return along_axis(n, *n.input(0), n.outputs());
  if (!n.is("Slice")) return std::nullopt;
  const auto offset = offset_of_slice(n);
  return offset ? std::optional(std::vector{*offset}) : std::nullopt;
}

void set_in_place(Node& node, const Dims& parts) { node.attrs.set(kInPlace, parts); }

Dims in_place(const Node& node) { return node.attrs.get_ints(kInPlace); }

Value* shown_value(Value* value) {
  for (;;) {
    const Node* n = value->producer();
    if (n == nullptr || n->graph() != value->graph()) return value;
    const OpDef* def = Registry::instance().find(*n);
    const bool shows = def != nullptr && def->lower == lower_view &&
                       (def->lowers == nullptr || def->lowers(*n)) && n->input(0) != nullptr;
    if (!shows || !n->input(0)->type.is_static()) return value;
    value = n->input(0);
  }
}

}  // namespace atc::ops
