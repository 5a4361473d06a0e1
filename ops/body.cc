#include "ops/body.h"

#include <algorithm>
#include <map>

#include "atc/base/math.h"

namespace atc::ops {

using kernels::RegType;
using kernels::VecOp;

namespace {

const OpDef& definition(const ir::Node& node) {
  const OpDef* def = Registry::instance().find(node);
  ATC_CHECK(def != nullptr && def->vector != nullptr, "no vector form of " + node.label());
  return *def;
}

bool is_narrow_integer(DType t) {
  return t == DType::I8 || t == DType::U8 || t == DType::I16 || t == DType::U16 || t == DType::U32;
}

/// Operators whose vector form leaves the output in the range of its dtype.
bool saturates(const ir::Node& node) { return node.is("QuantizeLinear"); }

bool has_register(const ir::Value* v) {
  return v != nullptr && aicore::reg_type_of(v->type.dtype).has_value();
}

}  // namespace

Dims logical_dims(const ir::Value* value) { return value->type.dims(); }

Dims storage_dims_of(const ir::Value* value) {
  return ir::storage_dims(value->type.format, value->type.dtype, value->type.dims());
}

Status cannot_lower(const ir::Node& node, std::string why) {
  return Status::error("E10055",
                       "The operation is not supported. Reason: node " + node.label() + " " + std::move(why));
}

StatusOr<std::vector<int>> emit_body(const ir::Graph& body, kernels::VectorProgram& program,
                                     const std::vector<int>& inputs) {
  std::map<const ir::Value*, int> regs;
  ATC_CHECK(inputs.size() == body.inputs().size(), "a fused body has other inputs than its node");
  for (std::size_t i = 0; i < inputs.size(); ++i) regs[body.inputs()[i]] = inputs[i];
  auto reg_of = [&](const ir::Value* v) -> int {
    if (v == nullptr) return -1;
    if (auto it = regs.find(v); it != regs.end()) return it->second;
    // Constants of several elements are parameters (axes) that the vector form reads off the node.
    if (!v->is_constant() || v->constant().count() != 1 || !has_register(v)) return -1;
    const double value = to_doubles(v->constant())[0];
    return regs[v] = program.constant(*aicore::reg_type_of(v->type.dtype), value);
  };
  for (const auto& node : body.nodes()) {
    std::vector<int> in;
    for (const ir::Value* v : node->inputs()) in.push_back(reg_of(v));
    VectorEmitter emitter(*node, program, std::move(in));
    ATC_TRY(definition(*node).vector(emitter));
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      const ir::Value* out = node->output(i);
      if (out == nullptr) continue;
      int r = emitter.output(i);
      ATC_CHECK(r >= 0, "the vector form of " + node->label() + " sets no output " + std::to_string(i));
      if (is_narrow_integer(out->type.dtype) && !saturates(*node))
        r = program.emit(VecOp::WrapInt, program.type_of(r), r, -1, -1,
                         static_cast<double>(static_cast<int>(out->type.dtype)));
      regs[out] = r;
    }
  }
  std::vector<int> out;
  for (const ir::Value* v : body.outputs()) out.push_back(reg_of(v));
  return out;
}

std::optional<Dims> vector_reduce_axes(const ir::Node& node) {
  const OpDef* def = Registry::instance().find(node);
  if (def == nullptr || def->vector == nullptr) return std::nullopt;
  if (def->reduce_axes == nullptr) return Dims{};
  auto axes = def->reduce_axes(node);
  if (!axes) return std::nullopt;
  for (std::size_t i = 1; i < axes->size(); ++i)
    if ((*axes)[i] != (*axes)[i - 1] + 1) return std::nullopt;
  return axes;
}

bool is_vectorizable(const ir::Node& node) {
  const OpDef* def = Registry::instance().find(node);
  if (def == nullptr || def->vector == nullptr) return false;
  if (def->vector_accepts != nullptr && !def->vector_accepts(node)) return false;
  for (const ir::Value* v : node.inputs()) {
    if (v == nullptr) continue;
    if (!v->type.is_static()) return false;
    if (!has_register(v) && !v->is_constant()) return false;
  }
  for (const ir::Value* v : node.outputs())
    if (v != nullptr && (!v->type.is_static() || !has_register(v))) return false;
  if (!has_register(node.input(0))) return false;
  return vector_reduce_axes(node).has_value();
}

std::optional<Dims> strides_in_space(const Dims& dims, ir::Format format, DType dtype, const Dims& space_dims,
                                     ir::Format space_format) {
  if (std::all_of(dims.begin(), dims.end(), [](std::int64_t d) { return d == 1; }) &&
      format == ir::Format::ND)
    return Dims(space_dims.size(), 0);
  if (format != space_format) return std::nullopt;
  if (format == ir::Format::ND) return kernels::broadcast_strides(dims, space_dims);
  if (!ir::has_channel_blocks(format)) return std::nullopt;
  const Dims storage = ir::storage_dims(format, dtype, dims);
  // One channel in sixteen lanes is no broadcast that strides could express.
  if (storage.size() != space_dims.size() || storage[1] != space_dims[1]) return std::nullopt;
  Dims strides(storage.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = storage.size(); i-- > 0;) {
    strides[i] = storage[i] == 1 && space_dims[i] != 1 ? 0 : stride;
    stride *= storage[i];
  }
  return strides;
}

}  // namespace atc::ops
