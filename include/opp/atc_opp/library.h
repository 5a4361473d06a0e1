#pragma once

// The glue of a project: what op_host registered, as the C interface of atc/custom_op.h. Included by one
// generated file, which gives the kernels.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <list>
#include <string>

#include "atc_opp/op_def.h"
#include "atc_opp/plugin.h"

namespace atc_opp {

/// A compiled kernel.
struct KernelRow {
  const char* type;
  std::uint32_t combination;
  std::uint32_t kernel_type;
  AtcKernel kernel;
};

/// The columns of an operator's table of types; empty lists with the reason in `fault` when there is none.
struct Columns {
  std::vector<std::vector<std::int32_t>> types, formats;  ///< by parameter: inputs, then outputs
  std::size_t count = 0;
  std::string fault;
};

inline std::vector<const ops::OpParamDef*> params_of(const ops::OpDef& def) {
  std::vector<const ops::OpParamDef*> out;
  for (const auto& p : def.inputs) out.push_back(p.get());
  for (const auto& p : def.outputs) out.push_back(p.get());
  return out;
}

/// Lists of equal length, times every choice of DataTypeList.
inline Columns columns_of(const ops::OpDef& def) {
  Columns out;
  const auto params = params_of(def);
  std::size_t base = 0;
  for (const ops::OpParamDef* p : params) base = std::max(base, p->types.size());
  if (base == 0) base = 1;
  for (const ops::OpParamDef* p : params)
    if (!p->types.empty() && p->types.size() != base) {
      out.fault = "parameter " + p->name + " lists " + std::to_string(p->types.size()) +
                  " types, another one " + std::to_string(base);
      return out;
    }
  out.count = base;
  for (const ops::OpParamDef* p : params) out.count *= std::max<std::size_t>(p->any_types.size(), 1);
  std::size_t period = base;
  for (const ops::OpParamDef* p : params) {
    std::vector<std::int32_t> types, formats;
    for (std::size_t c = 0; c < out.count; ++c) {
      if (!p->any_types.empty())
        types.push_back(p->any_types[c / period % p->any_types.size()]);
      else if (!p->types.empty())
        types.push_back(p->types[c % base]);
      const std::vector<ge::Format>& f = p->formats;
      formats.push_back(f.empty() ? ge::FORMAT_ND : f[f.size() == base ? c % base : 0]);
    }
    if (!p->any_types.empty()) period *= p->any_types.size();
    out.types.push_back(std::move(types));
    out.formats.push_back(std::move(formats));
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    for (std::size_t k = 0; k < params.size() && out.types[i].empty(); ++k)
      if (params[k]->name == params[i]->follows) out.types[i] = out.types[k];
    if (out.types[i].empty()) out.fault = "parameter " + params[i]->name + " lists no types";
  }
  return out;
}

/// One operator with all that the C structures point to.
struct BuiltOp {
  const ops::OpDef* def = nullptr;
  OpImpl impl;
  domi::Plugin plugin;
  Columns columns;
  std::vector<AtcCustomParam> inputs, outputs;
  std::vector<AtcCustomAttrSpec> attrs;
  std::vector<const char*> chips, origins;
  std::vector<AtcKernel> kernels;
};

inline int refuse(const AtcCustomCall& call, const std::string& why) {
  if (call.error_bytes > 0) std::snprintf(call.error, call.error_bytes, "%s", why.c_str());
  return 1;
}

/// Calls a function of the project; nothing is thrown past the C interface.
template <class F>
int guarded(const AtcCustomCall& call, const char* function, const F& f) {
  try {
    const std::uint32_t status = f();
    return status == ge::GRAPH_SUCCESS
               ? 0
               : refuse(call, std::string(function) + " returned " + std::to_string(status));
  } catch (const std::exception& error) {
    return refuse(call, std::string(function) + " threw: " + error.what());
  } catch (...) {
    return refuse(call, std::string(function) + " threw an exception");
  }
}

inline const BuiltOp& built(const AtcCustomCall& call) { return *static_cast<const BuiltOp*>(call.op->user); }

inline int call_infer_shape(const AtcCustomCall* call, AtcCustomTensor* outputs) {
  const BuiltOp& op = built(*call);
  gert::InferShapeContext context(*call, op.def->type.c_str(), op.outputs.size());
  return guarded(*call, "InferShape", [&] {
    const ge::graphStatus status = op.impl.infer_shape(&context);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const gert::Shape& shape = *context.GetOutputShape(i);
      outputs[i].rank = static_cast<std::int32_t>(shape.GetDimNum());
      for (std::size_t d = 0; d < shape.GetDimNum() && d < ATC_CUSTOM_OP_MAX_RANK; ++d)
        outputs[i].dims[d] = shape.GetDim(d);
    }
    return status;
  });
}

inline int call_infer_dtype(const AtcCustomCall* call, AtcCustomTensor* outputs) {
  const BuiltOp& op = built(*call);
  std::vector<ge::DataType> types;
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    types.push_back(static_cast<ge::DataType>(outputs[i].dtype));
  gert::InferDataTypeContext context(*call, op.def->type.c_str(), types);
  return guarded(*call, "InferDataType", [&] {
    const ge::graphStatus status = op.impl.infer_dtype(&context);
    for (std::size_t i = 0; i < op.outputs.size(); ++i) outputs[i].dtype = context.GetOutputDataType(i);
    return status;
  });
}

inline int call_tiling(const AtcCustomCall* call, AtcCustomTiling* tiling) {
  const BuiltOp& op = built(*call);
  gert::TilingContext context(*call, op.def->type.c_str(), *tiling);
  return guarded(*call, "the tiling function", [&] {
    const ge::graphStatus status = op.impl.tiling(&context);
    context.finish();
    return status;
  });
}

inline int call_parse(const AtcCustomCall* call, AtcCustomSetAttr set, void* to) {
  const BuiltOp& op = built(*call);
  const ge::Operator from(std::vector<AtcCustomAttr>(call->attrs, call->attrs + call->attr_count));
  ge::Operator made;
  return guarded(*call, "the parse function of the ONNX plugin", [&] {
    const domi::Status status = op.plugin.parse(from, made);
    made.send(set, to);
    return status;
  });
}

inline AtcCustomParam param_of(const BuiltOp& op, std::size_t i, const ops::OpParamDef& def,
                               bool wants_data) {
  return {def.name.c_str(),
          static_cast<std::uint32_t>(def.option == ops::OPTIONAL   ? ATC_PARAM_OPTIONAL
                                     : def.option == ops::REQUIRED ? ATC_PARAM_REQUIRED
                                                                   : def.option + 1),
          wants_data ? 1u : 0u, op.columns.types[i].data(), op.columns.formats[i].data()};
}

inline void build(BuiltOp& op, const KernelRow* rows, std::size_t count, AtcCustomOp& raw) {
  const ops::OpDef& def = *op.def;
  op.impl = op_impls()[def.type];
  if (def.infer_shape != nullptr) op.impl.infer_shape = def.infer_shape;
  if (def.infer_dtype != nullptr) op.impl.infer_dtype = def.infer_dtype;
  if (def.core.tiling != nullptr) op.impl.tiling = def.core.tiling;
  if (const auto at = domi::plugins().find(def.type); at != domi::plugins().end() && at->second.onnx)
    op.plugin = at->second;
  op.columns = columns_of(def);
  for (std::size_t i = 0; i < def.inputs.size(); ++i) {
    const auto& wanted = op.impl.data_inputs;
    const bool data = def.inputs[i]->wants_data || std::find(wanted.begin(), wanted.end(), i) != wanted.end();
    op.inputs.push_back(param_of(op, i, *def.inputs[i], data));
  }
  for (std::size_t i = 0; i < def.outputs.size(); ++i)
    op.outputs.push_back(param_of(op, def.inputs.size() + i, *def.outputs[i], false));
  for (const auto& a : def.attrs)
    op.attrs.push_back(
        {{a->name.c_str(), a->kind,
          static_cast<std::uint32_t>(a->kind == ATC_ATTR_FLOATS ? a->floats.size() : a->ints.size()), a->i,
          a->f, a->s.c_str(), a->ints.data(), a->floats.data()},
         a->required ? 1u : 0u});
  for (const std::string& c : def.core.chips) op.chips.push_back(c.c_str());
  for (const std::string& o : op.plugin.origins) op.origins.push_back(o.c_str());
  op.kernels.resize(op.columns.count, nullptr);
  raw = {};
  for (std::size_t r = 0; r < count; ++r)
    if (def.type == rows[r].type && rows[r].combination < op.kernels.size()) {
      op.kernels[rows[r].combination] = rows[r].kernel;
      raw.kernel_type = rows[r].kernel_type;
    }
  raw.user = &op;
  raw.type = def.type.c_str();
  raw.domain = "";
  raw.inputs = op.inputs.data();
  raw.input_count = static_cast<std::uint32_t>(op.inputs.size());
  raw.outputs = op.outputs.data();
  raw.output_count = static_cast<std::uint32_t>(op.outputs.size());
  raw.combinations = static_cast<std::uint32_t>(op.columns.count);
  raw.attrs = op.attrs.data();
  raw.attr_count = static_cast<std::uint32_t>(op.attrs.size());
  raw.chips = op.chips.data();
  raw.chip_count = static_cast<std::uint32_t>(op.chips.size());
  raw.origins = op.origins.data();
  raw.origin_count = static_cast<std::uint32_t>(op.origins.size());
  raw.infer_shape = op.impl.infer_shape == nullptr ? nullptr : call_infer_shape;
  raw.infer_dtype = op.impl.infer_dtype == nullptr ? nullptr : call_infer_dtype;
  raw.tiling = op.impl.tiling == nullptr ? nullptr : call_tiling;
  raw.parse = op.plugin.parse == nullptr ? nullptr : call_parse;
  raw.kernels = op.kernels.data();
}

/// Everything that op_host registered, with the kernels of these rows. Made once, never freed.
inline const AtcCustomOpLibrary* library_of(const KernelRow* rows, std::size_t count) {
  static std::list<BuiltOp> built_ops;
  static std::vector<AtcCustomOp> raw;
  static AtcCustomOpLibrary library = {};
  if (library.ops != nullptr) return &library;
  for (const ops::OpDef* def : op_defs()) {
    BuiltOp& op = built_ops.emplace_back();
    op.def = def;
    build(op, rows, count, raw.emplace_back());
  }
  library = {ATC_CUSTOM_OP_VERSION, ATC_CORE_API_VERSION, static_cast<std::uint32_t>(raw.size()), raw.data()};
  return &library;
}

}  // namespace atc_opp
