#pragma once

// OpDef of op_host: what a project says of an operator. Kept as lists, read by the glue (atc_opp/library.h).
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "atc_opp/contexts.h"

namespace gert {
using InferShapeFunction = ge::graphStatus (*)(InferShapeContext*);
using InferDataTypeFunction = ge::graphStatus (*)(InferDataTypeContext*);
using TilingFunction = ge::graphStatus (*)(TilingContext*);
}  // namespace gert

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum DependScope { ALL = 0, TILING = 1 };

class OpParamDef {
 public:
  explicit OpParamDef(const char* param) : name(param) {}
  OpParamDef& ParamType(Option value) {
    option = value;
    return *this;
  }
  OpParamDef& DataType(std::vector<ge::DataType> list) {
    types = std::move(list);
    return *this;
  }
  /// Every type of the list with every combination of the others.
  OpParamDef& DataTypeList(std::vector<ge::DataType> list) {
    any_types = std::move(list);
    return *this;
  }
  OpParamDef& Format(std::vector<ge::Format> list) {
    formats = std::move(list);
    return *this;
  }
  OpParamDef& FormatList(std::vector<ge::Format> list) {
    formats = std::move(list);
    return *this;
  }
  OpParamDef& UnknownShapeFormat(std::vector<ge::Format>) { return *this; }
  OpParamDef& DataTypeForBinQuery(std::vector<ge::DataType>) { return *this; }
  OpParamDef& FormatForBinQuery(std::vector<ge::Format>) { return *this; }
  OpParamDef& ValueDepend(Option value, DependScope = ALL) {
    wants_data = value == REQUIRED;
    return *this;
  }
  OpParamDef& IgnoreContiguous() { return *this; }
  OpParamDef& AutoContiguous() { return *this; }
  OpParamDef& Scalar() { return *this; }
  OpParamDef& ScalarList() { return *this; }
  OpParamDef& InitValue(std::uint64_t) { return *this; }
  OpParamDef& Version(std::uint32_t) { return *this; }
  OpParamDef& Follow(const char* param) {
    follows = param;
    return *this;
  }

  std::string name, follows;
  Option option = REQUIRED;
  std::vector<ge::DataType> types, any_types;
  std::vector<ge::Format> formats;
  bool wants_data = false;
};

class OpAttrDef {
 public:
  explicit OpAttrDef(const char* attr) : name(attr) {}
  OpAttrDef& AttrType(Option value) {
    required = value == REQUIRED;
    return *this;
  }
  OpAttrDef& Bool() {
    kind = ATC_ATTR_BOOL;
    return *this;
  }
  OpAttrDef& Bool(bool value) {
    i = value ? 1 : 0;
    return Bool();
  }
  OpAttrDef& Int() {
    kind = ATC_ATTR_INT;
    return *this;
  }
  OpAttrDef& Int(std::int64_t value) {
    i = value;
    return Int();
  }
  OpAttrDef& Float() {
    kind = ATC_ATTR_FLOAT;
    return *this;
  }
  OpAttrDef& Float(float value) {
    f = value;
    return Float();
  }
  OpAttrDef& String() {
    kind = ATC_ATTR_STRING;
    return *this;
  }
  OpAttrDef& String(const char* value) {
    s = value;
    return String();
  }
  OpAttrDef& ListInt() {
    kind = ATC_ATTR_INTS;
    return *this;
  }
  OpAttrDef& ListInt(std::vector<std::int64_t> value) {
    ints = std::move(value);
    return ListInt();
  }
  OpAttrDef& ListFloat() {
    kind = ATC_ATTR_FLOATS;
    return *this;
  }
  OpAttrDef& ListFloat(std::vector<float> value) {
    floats = std::move(value);
    return ListFloat();
  }
  OpAttrDef& Version(std::uint32_t) { return *this; }

  std::string name, s;
  bool required = true;
  std::uint32_t kind = ATC_ATTR_INT;
  std::int64_t i = 0;
  float f = 0;
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
};

/// Options of kernel builds; what they choose between does not differ here.
class OpAICoreConfig {
 public:
  OpAICoreConfig() = default;
  explicit OpAICoreConfig(const char*) {}
  OpAICoreConfig& DynamicCompileStaticFlag(bool) { return *this; }
  OpAICoreConfig& DynamicFormatFlag(bool) { return *this; }
  OpAICoreConfig& DynamicRankSupportFlag(bool) { return *this; }
  OpAICoreConfig& DynamicShapeSupportFlag(bool) { return *this; }
  OpAICoreConfig& NeedCheckSupportFlag(bool) { return *this; }
  OpAICoreConfig& PrecisionReduceFlag(bool) { return *this; }
  OpAICoreConfig& ExtendCfgInfo(const char*, const char*) { return *this; }
};

class OpAICoreDef {
 public:
  OpAICoreDef& SetTiling(gert::TilingFunction f) {
    tiling = f;
    return *this;
  }
  OpAICoreDef& AddConfig(const char* soc) {
    chips.emplace_back(soc);
    return *this;
  }
  OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig&) { return AddConfig(soc); }
  OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig&&) { return AddConfig(soc); }

  gert::TilingFunction tiling = nullptr;
  std::vector<std::string> chips;
};

class OpDef {
 public:
  explicit OpDef(const char* op) : type(op) {}
  virtual ~OpDef() = default;
  OpParamDef& Input(const char* name) { return find_or_add(inputs, name); }
  OpParamDef& Output(const char* name) { return find_or_add(outputs, name); }
  OpAttrDef& Attr(const char* name) {
    for (const auto& a : attrs)
      if (a->name == name) return *a;
    return *attrs.emplace_back(std::make_unique<OpAttrDef>(name));
  }
  OpDef& SetInferShape(gert::InferShapeFunction f) {
    infer_shape = f;
    return *this;
  }
  OpDef& SetInferDataType(gert::InferDataTypeFunction f) {
    infer_dtype = f;
    return *this;
  }
  OpDef& SetInferShapeRange(gert::InferShapeFunction) { return *this; }
  OpDef& Comment(int, const char*) { return *this; }
  OpAICoreDef& AICore() { return core; }

  std::string type;
  std::vector<std::unique_ptr<OpParamDef>> inputs, outputs;
  std::vector<std::unique_ptr<OpAttrDef>> attrs;
  gert::InferShapeFunction infer_shape = nullptr;
  gert::InferDataTypeFunction infer_dtype = nullptr;
  OpAICoreDef core;

 private:
  static OpParamDef& find_or_add(std::vector<std::unique_ptr<OpParamDef>>& list, const char* name) {
    for (const auto& p : list)
      if (p->name == name) return *p;
    return *list.emplace_back(std::make_unique<OpParamDef>(name));
  }
};

}  // namespace ops

namespace atc_opp {

/// Functions that IMPL_OP and its kin give by operator type.
struct OpImpl {
  gert::InferShapeFunction infer_shape = nullptr;
  gert::InferDataTypeFunction infer_dtype = nullptr;
  gert::TilingFunction tiling = nullptr;
  std::vector<std::size_t> data_inputs;
};

inline std::vector<ops::OpDef*>& op_defs() {
  static std::vector<ops::OpDef*> defs;
  return defs;
}
inline std::map<std::string, OpImpl>& op_impls() {
  static std::map<std::string, OpImpl> impls;
  return impls;
}

struct OpEntry {
  explicit OpEntry(ops::OpDef* def) { op_defs().push_back(def); }
};

/// IMPL_OP(X).InferShape(f).Tiling(g)
class OpImplEntry {
 public:
  explicit OpImplEntry(const char* type) : impl_(op_impls()[type]) {}
  OpImplEntry& InferShape(gert::InferShapeFunction f) {
    impl_.infer_shape = f;
    return *this;
  }
  OpImplEntry& InferDataType(gert::InferDataTypeFunction f) {
    impl_.infer_dtype = f;
    return *this;
  }
  OpImplEntry& Tiling(gert::TilingFunction f) {
    impl_.tiling = f;
    return *this;
  }
  template <class CompileInfo>
  OpImplEntry& TilingParse(ge::graphStatus (*)(gert::TilingParseContext*)) {
    return *this;
  }
  OpImplEntry& InputsDataDependency(std::initializer_list<std::int32_t> inputs) {
    for (const std::int32_t i : inputs) impl_.data_inputs.push_back(static_cast<std::size_t>(i));
    return *this;
  }
  OpImplEntry& TilingInputsDataDependency(std::initializer_list<std::int32_t> inputs) {
    return InputsDataDependency(inputs);
  }

 private:
  OpImpl& impl_;
};

}  // namespace atc_opp

#define OP_ADD(Type) static const atc_opp::OpEntry op_entry_of_##Type(new Type(#Type))
#define IMPL_OP(Type) \
  static const atc_opp::OpImplEntry ATC_OPP_JOIN(op_impl_of_##Type##_, __LINE__) = atc_opp::OpImplEntry(#Type)
#define IMPL_OP_INFERSHAPE(Type) IMPL_OP(Type)
#define IMPL_OP_OPTILING(Type) IMPL_OP(Type)
#define IMPL_OP_INFERDATATYPE(Type) IMPL_OP(Type)
