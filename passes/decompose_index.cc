#include "passes/decompose_index.h"

#include <algorithm>
#include <numeric>

#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_vector_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

/// OneHot of i64 indices, in two values, along an axis of its output.
Value* one_hot(NodeWriter& w, Value* index, int version, Value* values, const Dims& dims, std::int64_t axis) {
  Value* depth = w.int64s({dims[static_cast<std::size_t>(axis)]}, "depth");
  Node* n = w.insert("OneHot", {index, depth, values}, ir::tensor_type(values->type.dtype, dims), "one_hot");
  n->version = version;
  n->attrs.set("axis", axis);
  return n->output(0);
}

Value* zero_and_one(Graph& graph, const Node& n, DType dtype) {
  return graph.add_constant(n.name + "/values", from_doubles(dtype, {2}, std::vector<double>{0, 1}));
}

/// The elements of a constant integer input.
std::optional<Dims> constant_elements(const Value* v) {
  if (v == nullptr || !v->is_constant()) return std::nullopt;
  return to_int64s(v->constant());
}

}  // namespace

bool expand_hardmax(Graph& graph, Node& n) {
  if (!n.is("Hardmax") || !is_vector_float(n.input(0)->type.dtype)) return false;
  const ir::TensorType type = n.output(0)->type;
  Dims dims = type.dims();
  const bool flattens = n.version < 13;
  auto axis = ops::normalize_axis(n.attrs.get_int("axis", flattens ? 1 : -1), std::ssize(dims));
  if (!axis || element_count(dims) == 0) return false;
  NodeWriter w(graph, n);
  if (flattens) {
    const auto split = dims.begin() + *axis;
    dims = {element_count(Dims(dims.begin(), split)), element_count(Dims(split, dims.end()))};
    axis = 1;
  }
  Value* x = w.reshape(n.input(0), dims, "rows");
  Dims found = dims;
  found.erase(found.begin() + *axis);
  Node* arg = w.insert("ArgMax", {x}, ir::tensor_type(DType::I64, found), "largest");
  arg->attrs.set("axis", *axis);
  arg->attrs.set("keepdims", std::int64_t{0});
  Value* y = one_hot(w, arg->output(0), 11, zero_and_one(graph, n, type.dtype), dims, *axis);
  w.finish(w.reshape(y, type.dims(), "axes"));
  return true;
}

bool expand_eye_like(Graph& graph, Node& n) {
  if (!n.is("EyeLike")) return false;
  const ir::TensorType type = n.output(0)->type;
  const Dims dims = type.dims();
  if (element_count(dims) == 0) return false;
  constexpr int kAnyIndex = 9;  // the last version in which a negative index is out of range
  Dims positions(static_cast<std::size_t>(dims[0]));
  std::iota(positions.begin(), positions.end(), n.attrs.get_int("k", 0));
  NodeWriter w(graph, n);
  Value* index = w.int64s(positions, "positions");
  w.finish(one_hot(w, index, kAnyIndex, zero_and_one(graph, n, type.dtype), dims, 1));
  return true;
}

bool expand_center_crop_pad(Graph& graph, Node& n) {
  if (!n.is("CenterCropPad")) return false;
  Value* x = n.input(0);
  const ir::TensorType type = n.output(0)->type;
  const Dims from = x->type.dims(), to = type.dims();
  if (!constant_elements(n.input(1)) || element_count(from) == 0 || element_count(to) == 0) return false;
  const std::size_t rank = from.size();
  Dims axes(rank), starts(rank), ends(rank), kept(rank), pads(2 * rank);
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = 0; i < rank; ++i) {
    kept[i] = std::min(from[i], to[i]);
    starts[i] = (from[i] - kept[i]) / 2;
    ends[i] = starts[i] + kept[i];
    pads[i] = (to[i] - kept[i]) / 2;
    pads[rank + i] = to[i] - kept[i] - pads[i];
  }
  NodeWriter w(graph, n);
  if (kept != from)
    x = w.insert("Slice", {x, w.int64s(starts, "starts"), w.int64s(ends, "ends"), w.int64s(axes, "sliced")},
                 ir::tensor_type(type.dtype, kept), "cropped")
            ->output(0);
  if (kept != to) x = w.insert("Pad", {x, w.int64s(pads, "pads")}, type, "padded")->output(0);
  if (!can_replace(n.output(0), x)) x = w.unary("Identity", x, "output");
  w.finish(x);
  return true;
}

bool expand_affine_grid(Graph& graph, Node& n) {
  Value* theta = n.input(0);
  if (!n.is("AffineGrid") || !is_vector_float(theta->type.dtype) || !constant_elements(n.input(1)))
    return false;
  const ir::TensorType type = n.output(0)->type;
  const Dims grid = type.dims(), matrix = theta->type.dims();
  const auto rank = static_cast<std::int64_t>(grid.size()) - 2;
  // The batch of the size is that of theta, which only values show.
  if (element_count(grid) == 0 || matrix != Dims{grid[0], rank, rank + 1}) return false;
  const bool aligns = n.attrs.get_int("align_corners", 0) != 0;
  const Dims spatial(grid.begin() + 1, grid.end() - 1);
  const std::int64_t points = element_count(spatial);
  std::vector<double> at;
  for (ops::NdIndex p(spatial); !p.done(); p.next()) {
    for (std::size_t axis = spatial.size(); axis-- > 0;) {
      const auto i = static_cast<double>(p[axis]), count = static_cast<double>(spatial[axis]);
      // From end to end, or the centers of cells.
      at.push_back(!aligns ? (2 * i + 1) / count - 1 : count > 1 ? 2 * i / (count - 1) - 1 : 0);
    }
    at.push_back(1);
  }
  NodeWriter w(graph, n);
  Value* base = graph.add_constant(n.name + "/points", from_doubles(type.dtype, {1, points, rank + 1}, at));
  Node* columns =
      w.insert("Transpose", {theta}, ir::tensor_type(type.dtype, {grid[0], rank + 1, rank}), "columns");
  columns->attrs.set("perm", Dims{0, 2, 1});
  Node* y = w.insert("MatMul", {base, columns->output(0)},
                     ir::tensor_type(type.dtype, {grid[0], points, rank}), "grid");
  w.finish(w.reshape(y->output(0), grid, "spatial"));
  return true;
}

}  // namespace atc::passes
