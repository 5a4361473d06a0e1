#include "ops/custom.h"

#include <algorithm>
#include <variant>

#include "atc/base/strings.h"
#include "atc/custom_op.h"
#include "ops/op.h"

namespace atc::ops {
namespace {

using custom::AttrValue;
using custom::OpInfo;

/// Elements that go to a library's functions with the call.
constexpr std::size_t kMaxDataBytes = std::size_t{1} << 20;
constexpr std::int32_t kNchw = 0, kNd = 2;

Status node_fault(const ir::Node& node, const std::string& what) {
  return Status::error("E16006", node.label() + ": " + what);
}

bool is_castable(DType from, DType to) {
  const auto plain = [](DType t) { return t == DType::F32 || t == DType::F16 || t == DType::BF16; };
  return from == to || (plain(from) && plain(to));
}

bool has_plain_formats(const OpInfo& op, std::uint32_t c) {
  const auto plain = [c](const custom::ParamInfo& p) { return p.formats[c] == kNd || p.formats[c] == kNchw; };
  return std::all_of(op.inputs.begin(), op.inputs.end(), plain) &&
         std::all_of(op.outputs.begin(), op.outputs.end(), plain);
}

/// -1: the combination does not fit; else how many inputs must be cast.
int casts_for(const OpInfo& op, std::uint32_t c, const std::vector<DType>& inputs, DType narrow) {
  if (!has_plain_formats(op, c)) return -1;
  int casts = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == DType::Undefined) continue;
    const DType wanted = op.inputs[i].dtypes[c];
    if (!is_castable(inputs[i], wanted)) return -1;
    if (narrow != DType::Undefined && inputs[i] == DType::F32 && wanted != narrow) return -1;
    casts += wanted != inputs[i] ? 1 : 0;
  }
  return casts;
}

std::string_view kind_name(custom::AttrKind kind) {
  constexpr std::string_view kNames[] = {"an integer",         "a float",         "a bool", "a string",
                                         "a list of integers", "a list of floats"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// The attribute as the operator declares it; nullopt when its kind is another.
std::optional<AttrValue> as_declared(AttrValue given, custom::AttrKind kind) {
  if (given.kind == custom::AttrKind::Int && kind == custom::AttrKind::Bool && (given.i == 0 || given.i == 1))
    given.kind = kind;
  if (given.kind == custom::AttrKind::Int && kind == custom::AttrKind::Float) {
    given.f = static_cast<float>(given.i);
    given.kind = kind;
  }
  if (given.kind != kind) return std::nullopt;
  return given;
}

Status collect_attrs(const ir::Node& node, const OpInfo& op, std::vector<AttrValue>& out) {
  std::vector<std::string> known;
  for (const custom::AttrInfo& a : op.attrs) known.push_back(a.value.name);
  for (const auto& [name, value] : node.attrs.map()) {
    if (name == kCustomLibrary || name == kCustomOp) continue;
    if (std::find(known.begin(), known.end(), name) == known.end())
      return node_fault(node, "attribute " + name + " does not exist in the custom operator " + op.type +
                                  ", which has " + (known.empty() ? "none" : join(known, ", ")));
  }
  for (const custom::AttrInfo& a : op.attrs) {
    const ir::Attribute* given = node.attrs.find(a.value.name);
    if (given == nullptr) {
      if (a.required)
        return node_fault(node, "required attribute " + a.value.name + " of the custom operator " + op.type +
                                    " is missing");
      out.push_back(a.value);
      continue;
    }
    auto value = from_attribute(a.value.name, *given);
    if (value) value = as_declared(*std::move(value), a.value.kind);
    if (!value)
      return node_fault(node, "attribute " + a.value.name + " must be " +
                                  std::string(kind_name(a.value.kind)) + ", as the custom operator " +
                                  op.type + " declares it");
    out.push_back(*std::move(value));
  }
  return {};
}

Status check_counts(const ir::Node& node, const OpInfo& op) {
  if (node.inputs().size() > op.inputs.size())
    return node_fault(node, "has " + std::to_string(node.inputs().size()) + " inputs, the custom operator " +
                                op.type + " takes " + std::to_string(op.inputs.size()));
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (!op.inputs[i].optional && node.input(i) == nullptr)
      return node_fault(node, "input " + std::to_string(i) + " '" + op.inputs[i].name +
                                  "' of the custom operator " + op.type + " is absent");
  if (node.outputs().size() > op.outputs.size())
    return node_fault(node, "has " + std::to_string(node.outputs().size()) +
                                " outputs, the custom operator " + op.type + " has " +
                                std::to_string(op.outputs.size()));
  return {};
}

StatusOr<custom::TensorInfo> describe(const ir::Node& node, const ir::Value* v, DType dtype,
                                      const custom::ParamInfo& param) {
  custom::TensorInfo out;
  out.dtype = dtype;
  if (v == nullptr) return out;
  if (v->type.shape) {
    if (v->type.shape->size() > ATC_CUSTOM_OP_MAX_RANK)
      return node_fault(node, "'" + v->name() + "' has rank " + std::to_string(v->type.shape->size()) +
                                  ", custom operators take at most " +
                                  std::to_string(ATC_CUSTOM_OP_MAX_RANK));
    out.shape.emplace();
    for (const ir::Dim& d : *v->type.shape) out.shape->push_back(d.known() ? d.value : -1);
  }
  const bool has_data =
      v->is_constant() && v->type.dtype == dtype && v->constant().data.size() <= kMaxDataBytes;
  if (has_data)
    out.data.assign(reinterpret_cast<const char*>(v->constant().data.data()), v->constant().data.size());
  if (param.wants_data && !has_data)
    return node_fault(node, "input '" + param.name + "' must be a constant: the shapes or the tiling of " +
                                node.attrs.get_string(kCustomOp, "") + " depend on its elements");
  return out;
}

/// Outputs of combinations that need casts are cast back to what the model's inputs are.
DType restored(DType of_library, const ir::Node& node) {
  if (!is_castable(of_library, DType::F32)) return of_library;
  for (const ir::Value* v : node.inputs())
    if (v != nullptr && is_castable(v->type.dtype, DType::F32)) return v->type.dtype;
  return of_library;
}

Status infer_custom(InferContext& ctx) {
  const ir::Node& node = ctx.node();
  ATC_ASSIGN(const CustomOperator op, custom_operator(node));
  const OpInfo& info = op.info();
  ATC_TRY(check_counts(node, info));
  const auto c = find_combination(info, input_dtypes(node, info));
  if (!c) return no_combination(node, info);
  bool all_ranked = true, all_static = true;
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    if (!ctx.has_input(i)) continue;
    all_ranked = all_ranked && ctx.ranked(i);
    all_static = all_static && ctx.type(i).is_static();
  }
  const auto dtype_of = [&](DType t) { return c->exact ? t : restored(t, node); };
  if (!all_ranked) {
    for (std::size_t i = 0; i < node.outputs().size(); ++i)
      ctx.set_output(i, dtype_of(info.outputs[i].dtypes[c->index]), std::nullopt);
    return {};
  }
  ATC_ASSIGN(const custom::Call call, custom_call(node, op, c->index, false));
  StatusOr<std::vector<custom::TensorInfo>> inferred = op.library->infer(c->index, call);
  if (!inferred.ok()) return std::move(inferred).status().note("this is node " + node.label());
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    const custom::TensorInfo& out = (*inferred)[i];
    std::optional<ir::Shape> shape;
    if (out.shape) {
      shape.emplace();
      for (const std::int64_t d : *out.shape) shape->push_back(d < 0 ? ctx.unknown_dim() : ir::Dim::of(d));
    }
    if (all_static && (!shape || !ir::is_static(*shape)))
      return Status::error("E89999", node.label() + ": infer_shape of the custom operator " + info.type +
                                         " (" + op.library->name() + ") leaves output " + std::to_string(i) +
                                         " '" + info.outputs[i].name + "' open: it gives " +
                                         (out.shape ? "[" + to_string(*out.shape) + "]" : "no shape") +
                                         ", the shapes of all inputs are known")
          .solution("Correct infer_shape; a shape that depends on data cannot be compiled.");
    ctx.set_output(i, dtype_of(out.dtype), std::move(shape));
  }
  return {};
}

}  // namespace

StatusOr<CustomOperator> custom_operator(const ir::Node& node) {
  const std::string hash = node.attrs.get_string(kCustomLibrary, ""),
                    type = node.attrs.get_string(kCustomOp, "");
  auto library = custom::find_library(hash);
  const int op = library == nullptr ? -1 : library->find(type);
  if (op < 0)
    return Status::error("E10501", node.label() + " is operator " + type + " of the library with SHA-256 " +
                                       hash + ", which is not loaded");
  return CustomOperator{std::move(library), static_cast<std::uint32_t>(op)};
}

std::optional<Combination> find_combination(const OpInfo& op, const std::vector<DType>& inputs,
                                            DType narrow) {
  if (inputs.size() > op.inputs.size()) return std::nullopt;
  if (narrow != DType::Undefined && std::find(inputs.begin(), inputs.end(), DType::F32) != inputs.end())
    for (std::uint32_t c = 0; c < op.combinations; ++c)
      if (const int casts = casts_for(op, c, inputs, narrow); casts >= 0) return Combination{c, casts == 0};
  std::optional<Combination> best;
  int fewest = 0;
  for (std::uint32_t c = 0; c < op.combinations; ++c) {
    const int casts = casts_for(op, c, inputs, DType::Undefined);
    if (casts < 0 || (best && casts >= fewest)) continue;
    best = Combination{c, casts == 0};
    fewest = casts;
  }
  return best;
}

std::vector<DType> input_dtypes(const ir::Node& node, const OpInfo& op) {
  std::vector<DType> out;
  for (std::size_t i = 0; i < std::min(node.inputs().size(), op.inputs.size()); ++i)
    out.push_back(node.input(i) == nullptr ? DType::Undefined : node.input(i)->type.dtype);
  return out;
}

Status no_combination(const ir::Node& node, const OpInfo& op) {
  std::vector<std::string> given, known;
  for (const DType t : input_dtypes(node, op))
    given.push_back(t == DType::Undefined ? "-" : std::string(name(t)));
  for (std::uint32_t c = 0; c < op.combinations; ++c) {
    std::vector<std::string> types;
    for (const custom::ParamInfo& p : op.inputs) types.emplace_back(name(p.dtypes[c]));
    known.push_back("(" + join(types, ", ") +
                    (has_plain_formats(op, c) ? ")" : ") in another format than ND"));
  }
  return Status::error("E10055", node.label() + ": the custom operator " + op.type +
                                     " does not take inputs of the types (" + join(given, ", ") +
                                     "); it takes " + join(known, " or "))
      .solution("Insert a Cast in the model, or add the combination to the operator.");
}

StatusOr<custom::Call> custom_call(const ir::Node& node, const CustomOperator& op, std::uint32_t combination,
                                   bool outputs) {
  const OpInfo& info = op.info();
  custom::Call call;
  call.op = op.op;
  ATC_TRY(check_counts(node, info));
  for (std::size_t i = 0; i < info.inputs.size(); ++i) {
    ATC_ASSIGN(custom::TensorInfo t,
               describe(node, node.input(i), info.inputs[i].dtypes[combination], info.inputs[i]));
    call.inputs.push_back(std::move(t));
  }
  for (std::size_t i = 0; outputs && i < info.outputs.size(); ++i) {
    ATC_ASSIGN(custom::TensorInfo t, describe(node, node.output(i), info.outputs[i].dtypes[combination], {}));
    call.outputs.push_back(std::move(t));
  }
  ATC_TRY(collect_attrs(node, info, call.attrs));
  return call;
}

ir::Attribute to_attribute(const AttrValue& value) {
  switch (value.kind) {
    case custom::AttrKind::Int:
    case custom::AttrKind::Bool:
      return value.i;
    case custom::AttrKind::Float:
      return value.f;
    case custom::AttrKind::String:
      return value.s;
    case custom::AttrKind::Ints:
      return value.ints;
    case custom::AttrKind::Floats:
      return value.floats;
  }
  return value.i;
}

std::optional<AttrValue> from_attribute(const std::string& name, const ir::Attribute& attribute) {
  AttrValue out;
  out.name = name;
  if (const auto* i = std::get_if<std::int64_t>(&attribute)) {
    out.i = *i;
  } else if (const auto* f = std::get_if<float>(&attribute)) {
    out.kind = custom::AttrKind::Float;
    out.f = *f;
  } else if (const auto* s = std::get_if<std::string>(&attribute)) {
    out.kind = custom::AttrKind::String;
    out.s = *s;
  } else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    out.kind = custom::AttrKind::Ints;
    out.ints = *ints;
  } else if (const auto* floats = std::get_if<std::vector<float>>(&attribute)) {
    out.kind = custom::AttrKind::Floats;
    out.floats = *floats;
  } else {
    return std::nullopt;
  }
  return out;
}

void register_custom(Registry& registry) {
  registry.add({.name = "Custom",
                .domain = "atc",
                .since = 0,
                .attrs = {{"*", AttrKind::String, false, 0}},  // those of the operator
                .inputs = {0, INT_MAX},
                .outputs = {1, INT_MAX},
                .infer = infer_custom,
                .foldable = false});
}

}  // namespace atc::ops
