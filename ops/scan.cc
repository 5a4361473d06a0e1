#include <algorithm>

#include "ops/control_flow.h"
#include "ops/families.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// Scan: a body over slices of its inputs. Until 8 every tensor has a batch axis in front and the sequence
// axis is 1; since 9 the axes are attributes.
namespace atc::ops {
namespace {

constexpr std::string_view kBody = "body";                           // Graph
constexpr std::string_view kCount = "num_scan_inputs";               // Int
constexpr std::string_view kInAxes = "scan_input_axes";              // Ints, since 9
constexpr std::string_view kInDirections = "scan_input_directions";  // Ints, since 9; 1: from the end
constexpr std::string_view kOutAxes = "scan_output_axes";
constexpr std::string_view kOutDirections = "scan_output_directions";
constexpr std::string_view kDirections = "directions";  // Ints, until 8
constexpr int kBatchedUntil = 8;

/// How a Scan node's inputs and outputs are divided.
struct Division {
  bool batched = false;
  std::size_t first = 0;  ///< input with the first state: 1 behind sequence_lens
  std::size_t states = 0, scans = 0, scan_outputs = 0;
  std::vector<std::int64_t> in_axes, in_directions, out_axes, out_directions;
};

std::vector<std::int64_t> list(const ir::Node& node, std::string_view name, std::size_t n) {
  auto values = node.attrs.get_ints(name);
  if (values.empty()) values.assign(n, 0);
  return values;
}

/// The fault's text, empty when there is none.
std::string divide(const ir::Node& node, Division& d) {
  const auto body = node.attrs.get_graph(kBody);
  d.batched = node.version <= kBatchedUntil;
  d.first = d.batched ? 1 : 0;
  const std::int64_t count = node.attrs.get_int(kCount, 0);
  const std::size_t inputs = node.inputs().size() - std::min(d.first, node.inputs().size());
  if (count < 1 || static_cast<std::size_t>(count) > inputs)
    return "attribute num_scan_inputs is " + std::to_string(count) + ", the node has " +
           std::to_string(inputs) + " states and scan inputs";
  d.scans = static_cast<std::size_t>(count);
  d.states = inputs - d.scans;
  if (body->inputs().size() != inputs || body->outputs().size() != node.outputs().size() ||
      body->outputs().size() < d.states)
    return "attribute body must have " + std::to_string(inputs) + " inputs and " +
           std::to_string(node.outputs().size()) + " outputs, it has " +
           std::to_string(body->inputs().size()) + " and " + std::to_string(body->outputs().size());
  d.scan_outputs = body->outputs().size() - d.states;
  d.in_axes = list(node, kInAxes, d.scans);
  d.in_directions = list(node, d.batched ? kDirections : kInDirections, d.scans);
  d.out_axes = list(node, kOutAxes, d.scan_outputs);
  d.out_directions = list(node, kOutDirections, d.scan_outputs);
  for (const auto& [values, n, name] :
       {std::tuple(&d.in_axes, d.scans, kInAxes), std::tuple(&d.in_directions, d.scans, kInDirections),
        std::tuple(&d.out_axes, d.scan_outputs, kOutAxes),
        std::tuple(&d.out_directions, d.scan_outputs, kOutDirections)})
    if (values->size() != n)
      return "attribute " + std::string(name) + " has " + std::to_string(values->size()) + " entries, " +
             std::to_string(n) + " are expected";
  return {};
}

// The type without its batch axis.
ir::TensorType one_of_batch(ir::TensorType type, bool batched) {
  if (batched && type.shape && !type.shape->empty()) type.shape->erase(type.shape->begin());
  return type;
}

Status infer_scan(InferContext& ctx) {
  Division d;
  if (const std::string fault = divide(ctx.node(), d); !fault.empty()) return ctx.error(fault);
  const auto body = ctx.node().attrs.get_graph(kBody);
  std::vector<ir::Value*> state, next;
  std::vector<ir::TensorType> initial;
  for (std::size_t i = 0; i < d.states; ++i) {
    if (!ctx.has_input(d.first + i)) return ctx.error("state " + std::to_string(i) + " is absent");
    state.push_back(body->inputs()[i]);
    next.push_back(body->outputs()[i]);
    initial.push_back(one_of_batch(ctx.type(d.first + i), d.batched));
  }
  ir::Dim length = ctx.unknown_dim(), batch = ctx.unknown_dim();
  for (std::size_t i = 0; i < d.scans; ++i) {
    const std::size_t input = d.first + d.states + i;
    if (!ctx.has_input(input)) return ctx.error("scan input " + std::to_string(i) + " is absent");
    ir::TensorType type = one_of_batch(ctx.type(input), d.batched);
    if (type.shape) {
      const auto axis = normalize_axis(d.in_axes[i], static_cast<std::int64_t>(type.shape->size()));
      if (!axis) return ctx.input_error(input, "has no axis " + std::to_string(d.in_axes[i]) + " to scan");
      const ir::Dim& steps = (*type.shape)[static_cast<std::size_t>(*axis)];
      if (length.known() && steps.known() && length != steps)
        return ctx.input_error(input, "has " + std::to_string(steps.value) + " steps, others have " +
                                          std::to_string(length.value));
      if (steps.known() || i == 0) length = steps;
      if (d.batched) batch = ctx.shape(input)[0];
      type.shape->erase(type.shape->begin() + *axis);
    }
    body->inputs()[d.states + i]->type = std::move(type);
  }
  ATC_ASSIGN(const std::vector<ir::TensorType> types, infer_carried(ctx, *body, state, next, initial));
  const auto with_batch = [&](std::optional<ir::Shape> shape) {
    if (shape && d.batched) shape->insert(shape->begin(), batch);
    return shape;
  };
  for (std::size_t i = 0; i < d.states; ++i) ctx.set_output(i, types[i].dtype, with_batch(types[i].shape));
  for (std::size_t i = 0; i < d.scan_outputs; ++i) {
    const ir::TensorType& one = body->outputs()[d.states + i]->type;
    std::optional<ir::Shape> shape;
    if (one.shape) {
      shape.emplace();
      for (const ir::Dim& dim : *one.shape) shape->push_back(dim.known() ? dim : ctx.unknown_dim());
      const auto axis = normalize_axis(d.out_axes[i], static_cast<std::int64_t>(shape->size()) + 1);
      if (!axis)
        return ctx.error("scan output " + std::to_string(i) + " has no axis " +
                         std::to_string(d.out_axes[i]));
      shape->insert(shape->begin() + *axis, length);
    }
    ctx.set_output(d.states + i, one.dtype, with_batch(std::move(shape)));
  }
  return {};
}

// Entry `index` of an axis, without the axis.
Tensor slice_at(const Tensor& t, std::size_t axis, std::int64_t index) {
  Dims shape = t.shape, strides = row_major_strides(t.shape);
  const std::int64_t start = index * strides[axis];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  return strided_copy(t, shape, strides, start);
}

// States and scan inputs of one batch entry to states and scan outputs.
StatusOr<std::vector<Tensor>> scan(EvalContext& ctx, const Division& d, const std::vector<Tensor>& inputs,
                                   std::int64_t limit) {
  const ir::Graph& body = *ctx.node().attrs.get_graph(kBody);
  std::vector<Tensor> state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(d.states));
  std::vector<std::size_t> axes;
  std::int64_t length = -1;
  for (std::size_t i = 0; i < d.scans; ++i) {
    const Tensor& t = inputs[d.states + i];
    const auto axis = normalize_axis(d.in_axes[i], static_cast<std::int64_t>(t.shape.size()));
    if (!axis) return ctx.error("scan input " + std::to_string(i) + " has no axis to scan");
    axes.push_back(static_cast<std::size_t>(*axis));
    const std::int64_t steps = t.shape[axes.back()];
    if (length >= 0 && steps != length) return ctx.error("its scan inputs have different lengths");
    length = steps;
  }
  if (limit >= 0) length = std::min(length, limit);
  std::vector<std::vector<Tensor>> scanned(d.scan_outputs);
  for (std::int64_t step = 0; step < length; ++step) {
    std::vector<Tensor> arguments = std::move(state);
    for (std::size_t i = 0; i < d.scans; ++i)
      arguments.push_back(
          slice_at(inputs[d.states + i], axes[i], d.in_directions[i] != 0 ? length - 1 - step : step));
    ATC_ASSIGN(std::vector<Tensor> results, ctx.eval_subgraph(body, std::move(arguments)));
    state.clear();
    for (std::size_t i = 0; i < d.states; ++i) state.push_back(std::move(results[i]));
    for (std::size_t i = 0; i < d.scan_outputs; ++i) scanned[i].push_back(std::move(results[d.states + i]));
  }
  for (std::size_t i = 0; i < d.scan_outputs; ++i) {
    if (d.out_directions[i] != 0) std::reverse(scanned[i].begin(), scanned[i].end());
    auto stacked = stack(scanned[i], body.outputs()[d.states + i]->type, d.out_axes[i]);
    if (!stacked) return ctx.error("its scan output " + std::to_string(i) + " changes its type or shape");
    state.push_back(*std::move(stacked));
  }
  return state;
}

Status reference_scan(EvalContext& ctx) {
  Division d;
  if (const std::string fault = divide(ctx.node(), d); !fault.empty()) return ctx.error(fault);
  std::vector<Tensor> inputs;
  for (std::size_t i = d.first; i < ctx.input_count(); ++i) inputs.push_back(ctx.input(i));
  if (!d.batched) {
    ATC_ASSIGN(ctx.outputs, scan(ctx, d, inputs, -1));
    return {};
  }
  // Entries of a batch are scanned one by one, each up to its own length; what lies behind it is zero.
  const std::int64_t batch = inputs.back().shape.empty() ? 0 : inputs.back().shape[0];
  std::vector<std::vector<Tensor>> results(ctx.outputs.size());
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<Tensor> entry;
    for (const Tensor& t : inputs) {
      if (t.shape.empty() || t.shape[0] != batch) return ctx.error("its inputs have different batch sizes");
      entry.push_back(slice_at(t, 0, b));
    }
    std::int64_t limit = -1;
    if (ctx.has_input(0)) limit = int_at(ctx.input(0), b);
    const std::int64_t full = entry.back().shape.empty() ? 0 : entry.back().shape[0];
    ATC_ASSIGN(std::vector<Tensor> made, scan(ctx, d, entry, limit));
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (i >= d.states && made[i].shape[0] < full) {
        Dims shape = made[i].shape;
        shape[0] = full;
        MutableTensor padded(made[i].dtype, shape);
        std::copy_n(made[i].data.data(), made[i].data.size(), padded.bytes().data());
        made[i] = std::move(padded).freeze();
      }
      results[i].push_back(std::move(made[i]));
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ir::Value* one = ctx.node().attrs.get_graph(kBody)->outputs()[i];
    auto stacked = stack(results[i], one->type, 0);
    if (!stacked) return ctx.error("its output " + std::to_string(i) + " changes its shape within the batch");
    ctx.outputs[i] = *std::move(stacked);
  }
  return {};
}

}  // namespace

void register_scan(Registry& registry) {
  registry.add({.name = "Scan",
                .until = kBatchedUntil,
                .attrs = {{kBody, AttrKind::Graph, true},
                          {kCount, AttrKind::Int, true},
                          {kDirections, AttrKind::Ints}},
                .inputs = {0, INT_MAX},  // sequence_lens may be absent
                .outputs = {1, INT_MAX},
                .infer = infer_scan,
                .reference = reference_scan});
  registry.add({.name = "Scan",
                .since = kBatchedUntil + 1,
                .attrs = {{kBody, AttrKind::Graph, true},
                          {kCount, AttrKind::Int, true},
                          {kInAxes, AttrKind::Ints},
                          {kInDirections, AttrKind::Ints},
                          {kOutAxes, AttrKind::Ints},
                          {kOutDirections, AttrKind::Ints}},
                .inputs = {1, INT_MAX},
                .outputs = {1, INT_MAX},
                .infer = infer_scan,
                .reference = reference_scan});
}

}  // namespace atc::ops
