#include "ops/in_place.h"

#include "ops/channels_last.h"
#include "ops/element_view.h"
#include "ops/input_parts.h"
#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"

namespace atc::ops {
namespace {

using ir::Node;
using ir::Value;

constexpr const char* kInPlace = "in_place";  // Ints

std::int64_t in_bytes(std::int64_t elements, const Value& v) {
  return elements * bit_width(v.type.dtype) / 8;
}

template <class Parts>
std::optional<std::vector<std::int64_t>> along_axis(const Node& n, const Value& whole, const Parts& parts) {
  const auto axis = normalize_axis(n.attrs.get_int("axis", n.is("Concat") && n.version < 4 ? 1 : 0),
                                   std::ssize(whole.type.dims()));
  const ir::Format format = whole.type.format;
  if (!axis || (format != ir::Format::ND && !ir::has_channel_blocks(format))) return std::nullopt;
  const auto a = static_cast<std::size_t>(*axis);
  const std::int64_t stride = storage_strides(&whole)[a];
  const std::map<std::size_t, InputPart> read_in_part = input_parts(n);
  std::vector<std::int64_t> offsets;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == nullptr || parts[i]->type.format != whole.type.format) return std::nullopt;
    offsets.push_back(in_bytes(at * stride, whole));
    const auto part = read_in_part.find(i);
    at += part != read_in_part.end() ? part->second.dims[a] : storage_dims_of(parts[i])[a];
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

// What a value is kept in as it is: not behind a Reshape, where parts are one stretch.
const Value* whole_of(const Value& v) {
  const Node* n = v.producer();
  if (n != nullptr && n->is("Split") && is_in_place(in_place(*n), static_cast<std::size_t>(v.output_index())))
    return n->input(0);
  for (const Value::Use& use : v.uses())
    if (is_concat(*use.node) && is_in_place(in_place(*use.node), static_cast<std::size_t>(use.index)))
      return use.node->output(0);
  return nullptr;
}

// Whether the tasks of a node that reads or writes a value walk it by strides.
bool walks_by_strides(const Node& n, const Value& v) {
  const bool writes = v.producer() == &n;
  if (is_concat(n)) {
    const std::map<std::size_t, InputPart> parts = input_parts(n);
    return copies_input(n) && std::none_of(parts.begin(), parts.end(),
                                           [&](const auto& part) { return n.input(part.first) == &v; });
  }
  if (n.is("Split")) return copies_input(n);
  if (n.domain != "atc" || (writes && stores_channels_last(n))) return false;
  if (n.is_internal("Fused")) {
    if (stores_channels_last(n)) return false;
    for (const char* attr : {"views", "gathers", "reduce_axes", "parts"})
      if (!n.attrs.get_ints(attr).empty()) return false;
    return true;
  }
  const bool weighs =
      n.is_internal("Conv") || n.is_internal("ConvTranspose") || n.is_internal("DepthwiseConv");
  if (!weighs && !n.is_internal("MaxPool") && !n.is_internal("AveragePool")) return false;
  if (weighs && n.input(1) == &v) return false;
  return v.type.dims().size() == n.input(0)->type.dims().size();
}

}  // namespace

Dims storage_strides(const Value* value) {
  const Value* whole = whole_of(*value);
  return whole != nullptr ? storage_strides(whole) : row_major_strides(storage_dims_of(value));
}

std::optional<Stretches> stretches(const Dims& dims, const Dims& strides) {
  if (dims.size() != strides.size()) return std::nullopt;
  Stretches s{1, 1, 0};
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] == 1) continue;
    if (strides[d] == s.elements) {
      s.elements *= dims[d];
    } else if (d == 0 && strides[d] > s.elements) {
      s.count = dims[d];
      s.stride = strides[d];
    } else {
      return std::nullopt;
    }
  }
  return s;
}

bool may_lie(const Value& value, const Dims& strides) {
  constexpr std::int64_t kMostStretches = 1024;
  const auto s = stretches(storage_dims_of(&value), strides);
  if (!s) return false;
  if (s->count == 1) return true;
  const Node* from = value.producer();
  if (s->count > kMostStretches || from == nullptr || !walks_by_strides(*from, value)) return false;
  if (is_concat(*from))
    for (const std::int64_t i : in_place(*from)) {
      Value* part = from->input(static_cast<std::size_t>(i));
      if (shown_value(part) != part || !may_lie(*part, strides)) return false;
    }
  for (const Value::Use& use : value.uses()) {
    if (use.node->graph() != value.graph() || !walks_by_strides(*use.node, value)) return false;
    if (!use.node->is("Split")) continue;
    for (const std::int64_t i : in_place(*use.node))
      if (!may_lie(*use.node->output(static_cast<std::size_t>(i)), strides)) return false;
  }
  return true;
}

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
