#include "ops/op.h"

#include <algorithm>
#include <array>

#include "atc/base/check.h"
#include "atc/base/strings.h"

namespace atc::ops {
namespace {

constexpr std::array<std::string_view, 9> kAttrKindNames = {
    "an integer", "a float", "a string", "integers", "floats", "strings", "a tensor", "a graph", "tensors"};

std::string_view kind_name(std::size_t kind) { return kAttrKindNames.at(kind); }

Status node_error(const ir::Node& node, const std::string& message) {
  return Status::error("E16006", "node " + node.label() + ": " + message);
}

std::string describe_value(const ir::Value* v) {
  if (v == nullptr) return "(absent)";
  return "'" + v->name() + "' of type " + ir::to_string(v->type);
}

}  // namespace

InferContext::InferContext(const ir::Node& node) : node_(node) {
  outputs.resize(node.outputs().size());
  dims_values.resize(node.outputs().size());
  consulted_.resize(node.inputs().size());
}

const Tensor* InferContext::constant(std::size_t i) const {
  if (i < consulted_.size()) consulted_[i] = true;
  const ir::Value* v = node_.input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

std::optional<ir::Shape> InferContext::dims_value(std::size_t i) const {
  if (i < consulted_.size()) consulted_[i] = true;
  const ir::Value* v = node_.input(i);
  if (v == nullptr) return std::nullopt;
  if (v->is_constant()) {
    const Tensor& t = v->constant();
    if (!is_integer(t.dtype) || t.shape.size() > 1) return std::nullopt;
    ir::Shape out;
    for (std::int64_t element : to_int64s(t)) out.push_back(ir::Dim{element, {}});
    return out;
  }
  return lookup_dims ? lookup_dims(v) : std::nullopt;
}

void InferContext::set_output(std::size_t i, DType dtype, std::optional<ir::Shape> shape) {
  if (i >= outputs.size()) return;
  outputs[i] = ir::TensorType{dtype, std::move(shape), ir::Format::ND};
}

void InferContext::set_dims_value(std::size_t i, ir::Shape value) {
  if (i < dims_values.size()) dims_values[i] = std::move(value);
}

ir::Dim InferContext::unknown_dim() {
  ATC_CHECK(next_symbol != nullptr, "InferContext: no source of symbols");
  return ir::Dim::named(next_symbol());
}

Status InferContext::error(std::string message) const { return node_error(node_, message); }

Status InferContext::input_error(std::size_t i, std::string message) const {
  return node_error(node_,
                    "input " + std::to_string(i) + " " + describe_value(node_.input(i)) + " " + message);
}

EvalContext::EvalContext(const ir::Node& node, std::vector<const Tensor*> inputs)
    : node_(node), inputs_(std::move(inputs)) {
  outputs.resize(node.outputs().size());
  aligned_.reserve(inputs_.size());
  for (const Tensor*& t : inputs_)
    if (t != nullptr && !is_aligned(*t)) t = &aligned_.emplace_back(aligned(*t));
}

Status EvalContext::error(std::string message) const { return node_error(node_, message); }

Status check_schema(const ir::Node& node, const OpDef& def) {
  // Trailing absent inputs are as good as none.
  std::size_t count = node.inputs().size();
  while (count > 0 && node.input(count - 1) == nullptr) --count;
  const auto least = static_cast<std::size_t>(def.inputs.min);
  const auto most = static_cast<std::size_t>(def.inputs.max);
  if (count < least || count > most) {
    const std::string expected = least == most ? std::to_string(least)
                                 : def.inputs.max == INT_MAX
                                     ? "at least " + std::to_string(least)
                                     : std::to_string(least) + " to " + std::to_string(most);
    return node_error(node, "has " + std::to_string(count) + " inputs, expected " + expected);
  }
  for (std::size_t i = 0; i < least; ++i)
    if (node.input(i) == nullptr)
      return node_error(node, "input " + std::to_string(i) + " is required but absent");

  const auto outputs = node.outputs().size();
  if (outputs < static_cast<std::size_t>(def.outputs.min) ||
      outputs > static_cast<std::size_t>(def.outputs.max))
    return node_error(
        node, "has " + std::to_string(outputs) + " outputs, expected " + std::to_string(def.outputs.min) +
                  (def.outputs.max == INT_MAX           ? " or more"
                   : def.outputs.max == def.outputs.min ? ""
                                                        : " to " + std::to_string(def.outputs.max)));

  auto exists = [&](const AttrSpec& spec) {
    return spec.since <= node.version && node.version <= spec.until;
  };
  // "*": whatever attributes there are, the operator checks them itself.
  const bool open = std::ranges::any_of(def.attrs, [](const AttrSpec& s) { return s.name == "*"; });
  for (const auto& [name, value] : node.attrs.map()) {
    if (open) break;
    const auto spec = std::ranges::find_if(
        def.attrs, [&, &name = name](const AttrSpec& s) { return s.name == name && exists(s); });
    if (spec == def.attrs.end()) {
      std::vector<std::string> known;
      for (const AttrSpec& s : def.attrs)
        if (exists(s)) known.emplace_back(s.name);
      const std::string near = nearest(name, known);
      return node_error(node, "attribute " + name + " does not exist in opset " +
                                  std::to_string(node.version) +
                                  (near.empty() ? "" : "; did you mean " + near + "?"));
    }
    if (value.index() != static_cast<std::size_t>(spec->kind))
      return node_error(node, "attribute " + name + " must be " +
                                  std::string(kind_name(static_cast<std::size_t>(spec->kind))) + ", found " +
                                  std::string(kind_name(value.index())));
  }
  for (const AttrSpec& spec : def.attrs)
    if (spec.required && exists(spec) && !node.attrs.has(spec.name))
      return node_error(node, "required attribute " + std::string(spec.name) + " is missing");
  return {};
}

std::optional<ir::Shape> broadcast(const ir::Shape& a, const ir::Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  const ir::Dim one = ir::Dim::of(1);
  ir::Shape out;
  for (std::size_t i = 0; i < rank; ++i) {
    const ir::Dim& da = i + a.size() < rank ? one : a[i + a.size() - rank];
    const ir::Dim& db = i + b.size() < rank ? one : b[i + b.size() - rank];
    if (da == db || db == one)
      out.push_back(da);
    else if (da == one)
      out.push_back(db);
    else if (da.known() && db.known())
      return std::nullopt;
    else  // the known one is not 1; of two symbols the first stands for both
      out.push_back(da.known() ? da : db.known() ? db : da);
  }
  return out;
}

std::optional<std::int64_t> normalize_axis(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

Status infer_same_as_input(InferContext& ctx) {
  ctx.set_output(0, ctx.dtype(0), ctx.type(0).shape);
  return {};
}

namespace {

Status broadcast_inputs(InferContext& ctx, std::optional<ir::Shape>& shape) {
  shape = ctx.type(0).shape;
  for (std::size_t i = 1; i < ctx.input_count(); ++i) {
    if (ctx.dtype(i) != ctx.dtype(0))
      return ctx.input_error(i, "must have the type of input 0, " + std::string(name(ctx.dtype(0))));
    if (!shape || !ctx.ranked(i)) {
      shape.reset();
      continue;
    }
    auto joint = broadcast(*shape, ctx.shape(i));
    if (!joint)
      return ctx.input_error(
          i, "does not broadcast with shape [" + ir::to_string(*shape) + "] of the inputs before it");
    shape = std::move(joint);
  }
  return {};
}

}  // namespace

Status infer_broadcast(InferContext& ctx) {
  std::optional<ir::Shape> shape;
  ATC_TRY(broadcast_inputs(ctx, shape));
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status infer_compare(InferContext& ctx) {
  std::optional<ir::Shape> shape;
  ATC_TRY(broadcast_inputs(ctx, shape));
  ctx.set_output(0, DType::Bool, std::move(shape));
  return {};
}

}  // namespace atc::ops
