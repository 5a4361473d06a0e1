// MaxPool with Indices, as comparisons of the taps one after the other.
#include <cmath>
#include <limits>

#include "ops/window_geometry.h"
#include "passes/decompose_pools.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

/// Each tap is a strided part of the data; for many a window on one core of the CPU is as good.
constexpr std::int64_t kMaxTaps = 49;

/// Steps through all positions of `dims`, row-major; false behind the last.
bool advance(Dims& at, const Dims& dims) {
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (++at[i] < dims[i]) return true;
    at[i] = 0;
  }
  return false;
}

/// Where tap `tap` of every window lies in its plane, and whether that is data. ONNX numbers the positions of
/// a plane row by row, or with storage_order 1 column by column.
struct TapPositions {
  std::vector<std::int64_t> index;
  std::vector<std::int64_t> inside;  // 0 or 1
};

TapPositions positions_of(const ops::WindowGeometry& g, const Dims& spatial, const Dims& tap, bool columns) {
  TapPositions p;
  Dims at(spatial.size(), 0);
  do {
    std::int64_t index = 0, inside = 1, scale = 1;
    for (std::size_t k = 0; k < spatial.size(); ++k) {
      const std::size_t axis = columns ? k : spatial.size() - 1 - k;
      const std::int64_t x = at[axis] * g.strides[axis] - g.pads_begin[axis] + tap[axis] * g.dilations[axis];
      if (x < 0 || x >= spatial[axis]) inside = 0;
      index += x * scale;
      scale *= spatial[axis];
    }
    p.index.push_back(index);
    p.inside.push_back(inside);
  } while (advance(at, g.output));
  return p;
}

class IndexedPool {
 public:
  IndexedPool(Graph& graph, Node& n, const ops::WindowGeometry& g, Dims spatial)
      : graph_(graph), n_(n), g_(g), spatial_(std::move(spatial)), w_(graph, n) {
    plane_ = Dims{1, 1};
    plane_.insert(plane_.end(), g_.output.begin(), g_.output.end());
  }

  void write() {
    const Dims out = n_.output(0)->type.dims();
    const DType dtype = n_.input(0)->type.dtype;
    const bool columns = n_.attrs.get_int("storage_order", 0) != 0;
    Value* x = padded();
    std::vector<TapPositions> taps;
    Dims tap(spatial_.size(), 0);
    do taps.push_back(positions_of(g_, spatial_, tap, columns));
    while (advance(tap, g_.kernel));

    // Before the first tap: nothing is greater than -inf, and the first position of data is the window's.
    std::vector<std::int64_t> first(taps[0].index.size(), -1);
    for (std::size_t t = taps.size(); t-- > 0;)
      for (std::size_t i = 0; i < first.size(); ++i)
        if (taps[t].inside[i] != 0) first[i] = taps[t].index[i];
    Value* best = w_.scalar(-std::numeric_limits<double>::infinity(), dtype, "lowest");
    Value* index = constant(DType::I64, first, "first");
    tap.assign(spatial_.size(), 0);
    std::size_t t = 0;
    do {
      const std::string number = std::to_string(t);
      Value* part = part_of(x, tap, "tap" + number);
      Value* greater = compare("Greater", part, best, out, "greater" + number);
      // A NaN is the largest of all, and the first one stays.
      Value* nan = logic("And", unary_bool("IsNaN", part, "nan" + number),
                         unary_bool("Not", unary_bool("IsNaN", best, "best_nan" + number), "no_nan" + number),
                         out, "new_nan" + number);
      Value* takes = logic("Or", greater, nan, out, "takes" + number);
      index = select(takes, constant(DType::I64, taps[t].index, "index" + number), index,
                     ir::tensor_type(DType::I64, out), "position" + number);
      best = select(takes, part, best, n_.output(0)->type, "best" + number);
      ++t;
    } while (advance(tap, g_.kernel));
    replace_value(n_.output(1), in_tensor(index, first));
    w_.finish(best);
  }

 private:
  Value* constant(DType dtype, const std::vector<std::int64_t>& values, const std::string& suffix) {
    return graph_.add_constant(n_.name + "/" + suffix, from_int64s(dtype, plane_, values));
  }

  // The data with -inf where windows reach beyond it.
  Value* padded() {
    Value* x = n_.input(0);
    Dims dims = x->type.dims(), before(dims.size(), 0), after(dims.size(), 0);
    bool any = false;
    for (std::size_t i = 0; i < spatial_.size(); ++i) {
      before[i + 2] = g_.pads_begin[i];
      after[i + 2] = std::max<std::int64_t>(
          0, (g_.output[i] - 1) * g_.strides[i] + g_.extent(i) - spatial_[i] - g_.pads_begin[i]);
      dims[i + 2] += before[i + 2] + after[i + 2];
      any = any || before[i + 2] != 0 || after[i + 2] != 0;
    }
    if (!any) return x;
    before.insert(before.end(), after.begin(), after.end());
    Value* lowest = w_.scalar(-std::numeric_limits<double>::infinity(), x->type.dtype, "padding");
    return w_
        .insert("Pad", {x, w_.int64s(before, "pads"), lowest}, ir::tensor_type(x->type.dtype, dims), "padded")
        ->output(0);
  }

  Value* part_of(Value* x, const Dims& tap, const std::string& suffix) {
    Dims starts, ends, axes, steps;
    for (std::size_t i = 0; i < spatial_.size(); ++i) {
      starts.push_back(tap[i] * g_.dilations[i]);
      ends.push_back(starts.back() + (g_.output[i] - 1) * g_.strides[i] + 1);
      axes.push_back(static_cast<std::int64_t>(i) + 2);
      steps.push_back(g_.strides[i]);
    }
    return w_
        .insert("Slice",
                {x, w_.int64s(starts, suffix + "_starts"), w_.int64s(ends, suffix + "_ends"),
                 w_.int64s(axes, suffix + "_axes"), w_.int64s(steps, suffix + "_steps")},
                n_.output(0)->type, suffix)
        ->output(0);
  }

  Value* compare(const char* op, Value* a, Value* b, const Dims& dims, const std::string& suffix) {
    return w_.insert(op, {a, b}, ir::tensor_type(DType::Bool, dims), suffix)->output(0);
  }
  Value* logic(const char* op, Value* a, Value* b, const Dims& dims, const std::string& suffix) {
    return compare(op, a, b, dims, suffix);
  }
  Value* unary_bool(const char* op, Value* a, const std::string& suffix) {
    return w_.insert(op, {a}, ir::tensor_type(DType::Bool, a->type.dims()), suffix)->output(0);
  }
  Value* select(Value* c, Value* a, Value* b, const ir::TensorType& type, const std::string& suffix) {
    return w_.insert("Where", {c, a, b}, type, suffix)->output(0);
  }

  // Positions count through the whole tensor; -1, of a window without data, stays.
  Value* in_tensor(Value* index, const std::vector<std::int64_t>& first) {
    const Dims out = n_.output(0)->type.dims();
    const std::int64_t plane = element_count(spatial_);
    std::vector<std::int64_t> offsets, has_data;
    for (std::int64_t i = 0; i < out[0] * out[1]; ++i) offsets.push_back(i * plane);
    for (const std::int64_t i : first) has_data.push_back(i >= 0 ? 1 : 0);
    Dims planes(out.size(), 1);
    planes[0] = out[0];
    planes[1] = out[1];
    Value* offset = graph_.add_constant(n_.name + "/plane_offsets", from_int64s(DType::I64, planes, offsets));
    const ir::TensorType type = ir::tensor_type(DType::I64, out);
    Value* counted =
        w_.insert("Mul", {offset, constant(DType::I64, has_data, "has_data")}, type, "offsets")->output(0);
    return w_.insert("Add", {index, counted}, type, "indices")->output(0);
  }

  Graph& graph_;
  Node& n_;
  const ops::WindowGeometry& g_;
  Dims spatial_;
  NodeWriter w_;
  Dims plane_;  // of constants that are the same in every channel
};

}  // namespace

bool expand_indexed_max_pool(Graph& graph, Node& n) {
  if (!n.is("MaxPool") || n.output(0) == nullptr || n.output(1) == nullptr || !graph.is_used(n.output(1)))
    return false;
  const Value* x = n.input(0);
  const DType dtype = x->type.dtype;
  if (dtype != DType::F32 && dtype != DType::F16 && dtype != DType::BF16) return false;
  const Dims spatial = ops::spatial_dims(*x->type.shape);
  const auto g = ops::pool_geometry(n, spatial);
  if (!g.ok() || element_count(n.output(0)->type.dims()) == 0 || element_count(g->kernel) > kMaxTaps)
    return false;
  IndexedPool(graph, n, *g, spatial).write();
  return true;
}

}  // namespace atc::passes
