#include "om/model_attrs.h"

#include <variant>

#include "atc/base/math.h"
#include "atc/ir/graph.h"
#include "atc/ir/text.h"
#include "om/proto_util.h"
#include "om/type_map.h"

namespace atc::om {
namespace {

using ge::proto::AttrDef;
using List = AttrDef::ListValue;

/// Constants of a subgraph that are printed in full.
constexpr std::int64_t kMaxPrintedElements = 16;

AttrDef& slot(AttrMap& attrs, std::string_view name) { return attrs[to_utf8(name)]; }

/// One overload for each alternative of ir::Attribute.
struct AttrWriter {
  AttrDef& out;

  List& list(AttrDef::ListValue::ListValueType type) const {
    List& l = *out.mutable_list();
    l.set_val_type(type);
    return l;
  }
  void operator()(std::int64_t v) const { out.set_i(v); }
  void operator()(float v) const { out.set_f(v); }
  void operator()(const std::string& v) const { out.set_s(v); }
  void operator()(const std::vector<std::int64_t>& v) const {
    list(List::VT_LIST_INT).mutable_i()->Add(v.begin(), v.end());
  }
  void operator()(const std::vector<float>& v) const {
    list(List::VT_LIST_FLOAT).mutable_f()->Add(v.begin(), v.end());
  }
  void operator()(const std::vector<std::string>& v) const {
    List& l = list(List::VT_LIST_STRING);
    for (const std::string& s : v) l.add_s(s);
  }
  void operator()(const Tensor& v) const { fill_tensor(v, *out.mutable_t()); }
  void operator()(const std::shared_ptr<ir::Graph>& v) const {
    out.set_s(v == nullptr ? std::string() : ir::print(*v, {.max_constant_elements = kMaxPrintedElements}));
  }
  void operator()(const std::vector<Tensor>& v) const {
    List& l = list(List::VT_LIST_TENSOR);
    for (const Tensor& t : v) fill_tensor(t, *l.add_t());
  }
};

Dims open_dims(const ir::TensorType& type) {
  if (!type.shape) return {-2};
  Dims dims;
  for (const ir::Dim& d : *type.shape) dims.push_back(d.known() ? d.value : -1);
  return dims;
}

/// Storage dims {N1, K1 * taps, 16, 16} of packed weights with logical dims O, I, spatial... (FORMAT.md).
/// Groups pad O each by itself, so N1 follows from the bytes. The type's own storage dims when the bytes
/// are no whole number of such rows.
Dims packed_weight_dims(const ir::TensorType& type, const Dims& dims, std::int64_t bytes) {
  constexpr std::int64_t kFractal = 16 * 16;
  const std::int64_t fractal_bytes = kFractal * bit_width(type.dtype) / 8;
  std::int64_t row = ceil_div(dims[1], 16);
  for (std::size_t i = 2; i < dims.size(); ++i) row *= dims[i];
  if (row > 0 && fractal_bytes > 0 && bytes > 0 && bytes % (row * fractal_bytes) == 0)
    return {bytes / (row * fractal_bytes), row, 16, 16};
  return ir::storage_dims(type.format, type.dtype, dims);
}

}  // namespace

void set_int(AttrMap& attrs, std::string_view name, std::int64_t value) { slot(attrs, name).set_i(value); }
void set_string(AttrMap& attrs, std::string_view name, std::string_view value) {
  slot(attrs, name).set_s(std::string(value));
}
void set_bool(AttrMap& attrs, std::string_view name, bool value) { slot(attrs, name).set_b(value); }
void set_ints(AttrMap& attrs, std::string_view name, const std::vector<std::int64_t>& values) {
  AttrWriter{slot(attrs, name)}(values);
}
void set_strings(AttrMap& attrs, std::string_view name, const std::vector<std::string>& values) {
  AttrWriter{slot(attrs, name)}(values);
}

AttrDef to_attr(const ir::Attribute& attribute) {
  AttrDef out;
  std::visit(AttrWriter{out}, attribute);
  return out;
}

void fill_desc(const ir::TensorType& type, std::string_view layout, std::int64_t bytes,
               ge::proto::TensorDescriptor& out) {
  const GeType dtype = ge_type(type.dtype);
  out.set_dtype(static_cast<ge::proto::DataType>(dtype.number));
  if (!dtype.exact) set_string(*out.mutable_attr(), "atc_dtype", name(type.dtype));
  const bool packed = type.format != ir::Format::ND;
  out.set_layout(std::string(packed || layout.empty() ? ir::name(type.format) : layout));

  Dims dims = open_dims(type);
  if (packed && type.is_static()) {
    set_ints(*out.mutable_attr(), "origin_shape", dims);
    set_string(*out.mutable_attr(), "origin_format", "ND");
    dims = type.format == ir::Format::FRACTAL_Z ? packed_weight_dims(type, dims, bytes)
                                                : ir::storage_dims(type.format, type.dtype, dims);
  }
  out.set_real_dim_cnt(static_cast<std::int64_t>(dims.size()));
  out.mutable_shape()->mutable_dim()->Add(dims.begin(), dims.end());

  if (bytes < 0 && type.is_static()) {
    const std::int64_t count = element_count(dims);
    if (count >= 0) bytes = static_cast<std::int64_t>(byte_size(type.dtype, static_cast<std::size_t>(count)));
  }
  if (bytes >= 0) out.set_size(bytes);
}

void fill_data(const Tensor& tensor, ge::proto::TensorDef& out) {
  ge::proto::TensorDescriptor& desc = *out.mutable_desc();
  if (tensor.data.size() > kMaxInlineBytes || tensor.dtype == DType::String) {
    set_bool(*desc.mutable_attr(), "data_omitted", true);
    return;
  }
  desc.set_weight_size(static_cast<std::int64_t>(tensor.data.size()));
  out.set_data(tensor.data.data(), tensor.data.size());
}

void fill_tensor(const Tensor& tensor, ge::proto::TensorDef& out) {
  fill_desc(ir::tensor_type(tensor.dtype, tensor.shape), "", -1, *out.mutable_desc());
  fill_data(tensor, out);
}

}  // namespace atc::om
