#include "passes/axis_slices.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {

using ir::Graph;
using ir::Node;
using ir::Value;

namespace {

std::optional<Dims> list_of(const Node& n, const char* attribute, std::size_t input) {
  if (n.version >= 10) return ops::constant_list(n, input);
  return n.attrs.has(attribute) ? std::optional(n.attrs.get_ints(attribute)) : std::nullopt;
}

// The first element, with the bounds' rules of Slice.
std::int64_t first_of(std::int64_t start, std::int64_t step, std::int64_t length) {
  if (start < 0) start += length;
  return std::clamp<std::int64_t>(start, 0, step > 0 ? length : length - 1);
}

// One axis is cut, by steps of 1.
std::optional<std::size_t> cut_axis(const AxisSlices& s, const Dims& dims) {
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (takes_all(s, dims, d)) continue;
    if (axis || (s.steps[d] != 1 && s.counts[d] > 1)) return std::nullopt;
    axis = d;
  }
  return axis;
}

}  // namespace

AxisSlices whole(const Dims& dims) { return {Dims(dims.size(), 0), Dims(dims.size(), 1), dims}; }

std::optional<AxisSlices> slices_of(const Node& n) {
  if (!n.is("Slice") || !has_static_shapes(n) || (n.version >= 10 && !ops::parameters_are_constant(n, 1)))
    return std::nullopt;
  const Dims dims = n.input(0)->type.dims();
  const auto starts = list_of(n, "starts", 1);
  if (!starts) return std::nullopt;
  Dims default_axes(starts->size());
  std::iota(default_axes.begin(), default_axes.end(), 0);
  const auto axes = ops::normalize_axes(list_of(n, "axes", 3).value_or(default_axes), dims.size());
  const Dims steps =
      (n.version >= 10 ? ops::constant_list(n, 4) : std::nullopt).value_or(Dims(starts->size(), 1));
  if (!axes || axes->size() != starts->size() || steps.size() != starts->size()) return std::nullopt;
  AxisSlices s = whole(dims);
  s.counts = n.output(0)->type.dims();
  if (element_count(s.counts) == 0) return std::nullopt;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto d = static_cast<std::size_t>((*axes)[i]);
    s.starts[d] = first_of((*starts)[i], steps[i], dims[d]);
    s.steps[d] = s.counts[d] == 1 ? 1 : steps[i];
  }
  return s;
}

AxisSlices composed(const AxisSlices& inner, const AxisSlices& outer) {
  AxisSlices s = outer;
  for (std::size_t d = 0; d < s.starts.size(); ++d) {
    s.starts[d] = inner.starts[d] + inner.steps[d] * outer.starts[d];
    s.steps[d] = s.counts[d] == 1 ? 1 : inner.steps[d] * outer.steps[d];
  }
  return s;
}

bool takes_all(const AxisSlices& s, const Dims& dims, std::size_t axis) {
  return s.counts[axis] == dims[axis] && (s.steps[axis] == 1 || s.counts[axis] == 1);
}

std::optional<Piece> piece_of(const Value& value) {
  const Node* n = value.producer();
  if (n == nullptr || !n->domain.empty() || !has_static_shapes(*n)) return std::nullopt;
  if (n->is("Slice")) {
    const auto s = slices_of(*n);
    if (!s) return std::nullopt;
    const auto axis = cut_axis(*s, n->input(0)->type.dims());
    if (!axis) return std::nullopt;
    return Piece{n->input(0), *axis, s->starts[*axis], s->counts[*axis]};
  }
  if (!n->is("Split")) return std::nullopt;
  const auto axis = axis_of(*n, 0, n->input(0)->type.shape->size());
  if (!axis) return std::nullopt;
  std::int64_t at = 0;
  for (const Value* part : n->outputs()) {
    if (part == nullptr) return std::nullopt;
    const std::int64_t length = part->type.dims()[*axis];
    if (part == &value) return Piece{n->input(0), *axis, at, length};
    at += length;
  }
  return std::nullopt;
}

Value* make_slice(Graph& graph, Node& before, Value* x, const AxisSlices& s) {
  const Dims dims = x->type.dims();
  Dims starts, ends, axes, steps;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (takes_all(s, dims, d)) continue;
    const std::int64_t end = s.starts[d] + s.steps[d] * (s.counts[d] - 1) + (s.steps[d] > 0 ? 1 : -1);
    starts.push_back(s.starts[d]);
    // An end before the first element must not count from behind.
    ends.push_back(end < 0 ? std::numeric_limits<std::int64_t>::min() : end);
    axes.push_back(static_cast<std::int64_t>(d));
    steps.push_back(s.steps[d]);
  }
  if (axes.empty()) return x;
  const auto list = [&](const Dims& values, const char* what) {
    return graph.add_constant(before.name + what, from_int64s(DType::I64, {std::ssize(values)}, values));
  };
  Node* n = graph.add_node(
      "Slice", {x, list(starts, "/starts"), list(ends, "/ends"), list(axes, "/axes"), list(steps, "/steps")},
      1, &before, {}, 13);
  n->name = before.name;
  n->sources = before.sources;
  n->output(0)->type = ir::tensor_type(x->type.dtype, s.counts);
  return n->output(0);
}

}  // namespace atc::passes
