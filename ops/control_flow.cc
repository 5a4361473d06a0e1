#include "ops/control_flow.h"

#include <algorithm>

#include "ops/families.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// If and Loop. Their references evaluate nested graphs through the caller, so that the runtime runs the
// nested graphs' operators where they belong.
namespace atc::ops {
namespace {

constexpr std::string_view kThen = "then_branch", kElse = "else_branch", kBody = "body";  // Graph

std::optional<bool> scalar_bool(const Tensor& t) {
  if (t.dtype != DType::Bool || t.count() != 1) return std::nullopt;
  return t.as<std::uint8_t>()[0] != 0;
}

// If ------------------------------------------------------------------------------------------------

Status infer_if(InferContext& ctx) {
  if (ctx.dtype(0) != DType::Bool) return ctx.input_error(0, "must be of type bool");
  const auto yes = ctx.node().attrs.get_graph(kThen), no = ctx.node().attrs.get_graph(kElse);
  // A branch that does not fit these shapes is never taken with them, or its fault is the run's to tell:
  // exporters put one model for each sampling rate into the branches of an If.
  Status faults[2];
  for (const auto& [branch, name, fault] :
       {std::tuple(yes, kThen, &faults[0]), std::tuple(no, kElse, &faults[1])}) {
    *fault = ctx.infer_subgraph(*branch);
    if (branch->outputs().size() != ctx.node().outputs().size() || !branch->inputs().empty())
      return ctx.error("attribute " + std::string(name) + " must be a graph without inputs and with " +
                       std::to_string(ctx.node().outputs().size()) + " outputs, it has " +
                       std::to_string(branch->inputs().size()) + " and " +
                       std::to_string(branch->outputs().size()));
  }
  if (!faults[0].ok() && !faults[1].ok()) return faults[0];
  if (!faults[0].ok() || !faults[1].ok()) {
    const ir::Graph& good = faults[0].ok() ? *yes : *no;
    for (std::size_t i = 0; i < good.outputs().size(); ++i)
      ctx.set_output(i, good.outputs()[i]->type.dtype, good.outputs()[i]->type.shape);
    return {};
  }
  for (std::size_t i = 0; i < ctx.node().outputs().size(); ++i) {
    const ir::TensorType& a = yes->outputs()[i]->type;
    const ir::TensorType& b = no->outputs()[i]->type;
    if (a.dtype != b.dtype)
      return ctx.error("output " + std::to_string(i) + " is " + ir::to_string(a) + " in then_branch and " +
                       ir::to_string(b) + " in else_branch");
    std::optional<ir::Shape> shape;
    if (a.shape && b.shape && a.shape->size() == b.shape->size()) {
      shape.emplace();
      for (std::size_t d = 0; d < a.shape->size(); ++d)
        shape->push_back((*a.shape)[d] == (*b.shape)[d] ? (*a.shape)[d] : ctx.unknown_dim());
    }
    ctx.set_output(i, a.dtype, std::move(shape));
  }
  return {};
}

Status reference_if(EvalContext& ctx) {
  const auto condition = scalar_bool(ctx.input(0));
  if (!condition) return ctx.error("its condition must be one bool");
  ATC_ASSIGN(ctx.outputs, ctx.eval_subgraph(*ctx.node().attrs.get_graph(*condition ? kThen : kElse), {}));
  return {};
}

// Loop ----------------------------------------------------------------------------------------------

// The iteration number or condition as the body declares it: a scalar, or one element.
Dims counter_dims(const ir::Value& v) {
  if (v.type.is_static() && element_count(v.type.dims()) == 1) return v.type.dims();
  return {};
}

Status infer_loop(InferContext& ctx) {
  const auto body = ctx.node().attrs.get_graph(kBody);
  const std::size_t carried = ctx.input_count() < 2 ? 0 : ctx.input_count() - 2;
  if (body->inputs().size() != carried + 2 || body->outputs().size() < carried + 1 ||
      body->outputs().size() != ctx.node().outputs().size() + 1)
    return ctx.error("attribute body must have " + std::to_string(carried + 2) + " inputs and " +
                     std::to_string(ctx.node().outputs().size() + 1) + " outputs, it has " +
                     std::to_string(body->inputs().size()) + " and " +
                     std::to_string(body->outputs().size()));
  if (ctx.has_input(0) && ctx.dtype(0) != DType::I64) return ctx.input_error(0, "must be of type int64");
  if (ctx.has_input(1) && ctx.dtype(1) != DType::Bool) return ctx.input_error(1, "must be of type bool");
  body->inputs()[0]->type = ir::tensor_type(DType::I64, counter_dims(*body->inputs()[0]));
  body->inputs()[1]->type = ir::tensor_type(DType::Bool, counter_dims(*body->inputs()[1]));
  std::vector<ir::Value*> state, next;
  std::vector<ir::TensorType> initial;
  for (std::size_t i = 0; i < carried; ++i) {
    state.push_back(body->inputs()[i + 2]);
    next.push_back(body->outputs()[i + 1]);
    initial.push_back(ctx.has_input(i + 2) ? ctx.type(i + 2) : ir::TensorType{});
  }
  ATC_ASSIGN(const std::vector<ir::TensorType> types, infer_carried(ctx, *body, state, next, initial));
  for (std::size_t i = 0; i < carried; ++i) ctx.set_output(i, types[i].dtype, types[i].shape);
  for (std::size_t i = carried; i + 1 < body->outputs().size(); ++i) {
    const ir::TensorType& one = body->outputs()[i + 1]->type;
    std::optional<ir::Shape> shape;
    if (one.shape) {
      shape.emplace(ir::Shape{ctx.unknown_dim()});
      for (const ir::Dim& d : *one.shape) shape->push_back(d.known() ? d : ctx.unknown_dim());
    }
    ctx.set_output(i, one.dtype, std::move(shape));
  }
  return {};
}

Status reference_loop(EvalContext& ctx) {
  const ir::Graph& body = *ctx.node().attrs.get_graph(kBody);
  const std::size_t carried = ctx.input_count() < 2 ? 0 : ctx.input_count() - 2;
  std::int64_t trips = INT64_MAX;
  if (ctx.has_input(0)) {
    if (ctx.input(0).dtype != DType::I64 || ctx.input(0).count() != 1)
      return ctx.error("its trip count must be one int64");
    trips = int_at(ctx.input(0), 0);
  }
  std::optional<bool> condition = ctx.has_input(1) ? scalar_bool(ctx.input(1)) : std::optional(true);
  std::vector<Tensor> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(ctx.input(i + 2));
  std::vector<std::vector<Tensor>> scanned(body.outputs().size() - carried - 1);
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    if (!condition) return ctx.error("its condition must be one bool");
    if (!*condition) break;
    const std::array<std::int64_t, 1> number = {trip};
    const std::array<double, 1> truth = {1};
    std::vector<Tensor> arguments = {from_int64s(DType::I64, counter_dims(*body.inputs()[0]), number),
                                     from_doubles(DType::Bool, counter_dims(*body.inputs()[1]), truth)};
    arguments.insert(arguments.end(), state.begin(), state.end());
    ATC_ASSIGN(std::vector<Tensor> results, ctx.eval_subgraph(body, std::move(arguments)));
    condition = scalar_bool(results[0]);
    for (std::size_t i = 0; i < carried; ++i) state[i] = std::move(results[i + 1]);
    for (std::size_t i = 0; i < scanned.size(); ++i)
      scanned[i].push_back(std::move(results[i + 1 + carried]));
  }
  std::move(state.begin(), state.end(), ctx.outputs.begin());
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    auto stacked = stack(scanned[i], body.outputs()[i + 1 + carried]->type, 0);
    if (!stacked) return ctx.error("its scan output " + std::to_string(i) + " changes its type or shape");
    ctx.outputs[carried + i] = *std::move(stacked);
  }
  return {};
}

}  // namespace

StatusOr<std::vector<ir::TensorType>> infer_carried(InferContext& ctx, ir::Graph& body,
                                                    const std::vector<ir::Value*>& state,
                                                    const std::vector<ir::Value*>& next,
                                                    std::vector<ir::TensorType> types) {
  // Dims that a pass through the body changes become unknown; each round makes at least one so.
  std::vector<std::vector<bool>> open(types.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i].shape) open[i].resize(types[i].shape->size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < types.size(); ++i) state[i]->type = types[i];
    ATC_TRY(ctx.infer_subgraph(body));
    for (std::size_t i = 0; i < types.size(); ++i) {
      const ir::TensorType& after = next[i]->type;
      if (after.dtype != types[i].dtype)
        return ctx.error("state " + std::to_string(i) + " begins as " + ir::to_string(types[i]) + " and is " +
                         ir::to_string(after) + " after the body");
      if (!types[i].shape) continue;
      if (!after.shape || after.shape->size() != types[i].shape->size()) {
        types[i].shape.reset();
        changed = true;
        continue;
      }
      for (std::size_t d = 0; d < open[i].size(); ++d) {
        if (open[i][d] || (*after.shape)[d] == (*types[i].shape)[d]) continue;
        (*types[i].shape)[d] = ctx.unknown_dim();
        open[i][d] = changed = true;
      }
    }
  }
  return types;
}

std::optional<Tensor> stack(const std::vector<Tensor>& parts, const ir::TensorType& type, std::int64_t axis) {
  Dims shape;
  if (!parts.empty())
    shape = parts.front().shape;
  else if (type.shape)
    for (const ir::Dim& d : *type.shape) shape.push_back(d.known() ? d.value : 0);
  const DType dtype = parts.empty() ? type.dtype : parts.front().dtype;
  for (const Tensor& part : parts)
    if (part.dtype != dtype || part.shape != shape || bit_width(dtype) < 8) return std::nullopt;
  const auto at = normalize_axis(axis, static_cast<std::int64_t>(shape.size()) + 1);
  if (!at) return std::nullopt;
  const auto split = shape.begin() + *at;
  const std::int64_t outer = element_count(Dims(shape.begin(), split));
  const auto inner = static_cast<std::size_t>(element_count(Dims(split, shape.end())) * bit_width(dtype) / 8);
  shape.insert(split, static_cast<std::int64_t>(parts.size()));
  MutableTensor out(dtype, shape);
  std::byte* to = out.bytes().data();
  for (std::int64_t o = 0; o < outer; ++o)
    for (const Tensor& part : parts) {
      std::copy_n(part.data.data() + static_cast<std::size_t>(o) * inner, inner, to);
      to += inner;
    }
  return std::move(out).freeze();
}

void register_control_flow(Registry& registry) {
  registry.add({.name = "If",
                .attrs = {{kThen, AttrKind::Graph, true}, {kElse, AttrKind::Graph, true}},
                .inputs = {1, 1},
                .outputs = {1, INT_MAX},
                .infer = infer_if,
                .reference = reference_if});
  registry.add({.name = "Loop",
                .attrs = {{kBody, AttrKind::Graph, true}},
                .inputs = {0, INT_MAX},  // trip count and condition may be absent
                .outputs = {1, INT_MAX},
                .infer = infer_loop,
                .reference = reference_loop});
}

}  // namespace atc::ops
