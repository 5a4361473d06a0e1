#pragma once

// TilingContext, InferShapeContext and InferDataTypeContext over a call of the C interface.
#include <string>
#include <vector>

#include "atc/custom_op.h"
#include "atc_opp/attrs.h"
#include "atc_opp/shape.h"
#include "atc_opp/tiling_def.h"

namespace fe {
/// The chip, for platform_ascendc::PlatformAscendC.
class PlatFormInfos {
 public:
  explicit PlatFormInfos(const AtcCustomChip* chip = nullptr) : chip_(chip) {}
  const AtcCustomChip* chip() const { return chip_; }

 private:
  const AtcCustomChip* chip_;
};
}  // namespace fe

namespace atc_opp {

inline gert::Shape shape_of(const AtcCustomTensor& t) {
  gert::Shape shape;
  for (int i = 0; i < t.rank; ++i) shape.AppendDim(t.dims[i]);
  return shape;
}

/// The tensors of a call. Inputs are numbered without absent optional ones, as on the device.
class CallView {
 public:
  CallView(const AtcCustomCall& call, const char* type)
      : call_(call), type_(type), attrs_(call.attrs, call.attr_count) {
    for (std::uint32_t i = 0; i < call.input_count; ++i) {
      const AtcCustomTensor& t = call.inputs[i];
      by_declaration_.push_back(t.rank < 0 ? -1 : static_cast<int>(inputs_.size()));
      if (t.rank >= 0) inputs_.push_back(made_of(t));
    }
    for (std::uint32_t i = 0; i < call.output_count; ++i) outputs_.push_back(made_of(call.outputs[i]));
  }

  const char* GetNodeName() const { return type_; }
  const char* GetNodeType() const { return type_; }
  const gert::RuntimeAttrs* GetAttrs() const { return &attrs_; }
  std::size_t GetComputeNodeInputNum() const { return inputs_.size(); }
  std::size_t GetComputeNodeOutputNum() const { return outputs_.size(); }
  const gert::CompileTimeTensorDesc* GetInputDesc(std::size_t i) const { return at(inputs_, i, &View::desc); }
  const gert::CompileTimeTensorDesc* GetRequiredInputDesc(std::size_t i) const {
    return GetOptionalInputDesc(i);
  }
  const gert::CompileTimeTensorDesc* GetOptionalInputDesc(std::size_t i) const {
    return declared(i, &View::desc);
  }
  const gert::CompileTimeTensorDesc* GetOutputDesc(std::size_t i) const {
    return at(outputs_, i, &View::desc);
  }
  const gert::Tensor* GetInputTensor(std::size_t i) const { return at(inputs_, i, &View::tensor); }
  const gert::Tensor* GetRequiredInputTensor(std::size_t i) const { return GetOptionalInputTensor(i); }
  const gert::Tensor* GetOptionalInputTensor(std::size_t i) const { return declared(i, &View::tensor); }

 protected:
  struct View {
    gert::StorageShape shape;
    gert::CompileTimeTensorDesc desc;
    gert::Tensor tensor;
  };
  template <class T>
  static const T* at(const std::vector<View>& list, std::size_t i, T View::*member) {
    return i < list.size() ? &(list[i].*member) : nullptr;
  }
  template <class T>
  const T* declared(std::size_t i, T View::*member) const {
    if (i >= by_declaration_.size() || by_declaration_[i] < 0) return nullptr;
    return at(inputs_, static_cast<std::size_t>(by_declaration_[i]), member);
  }

  const AtcCustomCall& call_;
  const char* type_;
  gert::RuntimeAttrs attrs_;
  std::vector<View> inputs_, outputs_;
  std::vector<int> by_declaration_;

 private:
  static View made_of(const AtcCustomTensor& t) {
    const auto type = static_cast<ge::DataType>(t.dtype);
    const auto format = static_cast<ge::Format>(t.format);
    const gert::Shape shape = shape_of(t);
    return {gert::StorageShape(shape),
            {type, format},
            {shape, type, format, t.data, static_cast<std::size_t>(t.data_bytes)}};
  }
};

}  // namespace atc_opp

namespace gert {

/// The buffer of the kernel's tiling data.
class TilingData {
 public:
  TilingData(void* data, std::size_t capacity) : data_(data), capacity_(capacity) {}
  void* GetData() { return data_; }
  const void* GetData() const { return data_; }
  std::size_t GetCapacity() const { return capacity_; }
  std::size_t GetDataSize() const { return size_; }
  void SetDataSize(std::size_t size) { size_ = size; }
  template <class T>
  ge::graphStatus Append(const T& value) {
    if (size_ + sizeof value > capacity_) return ge::GRAPH_FAILED;
    std::memcpy(static_cast<char*>(data_) + size_, &value, sizeof value);
    size_ += sizeof value;
    return ge::GRAPH_SUCCESS;
  }

 private:
  void* data_;
  std::size_t capacity_, size_ = 0;
};

class TilingContext : public atc_opp::CallView {
 public:
  TilingContext(const AtcCustomCall& call, const char* type, AtcCustomTiling& tiling)
      : CallView(call, type),
        platform_(call.chip),
        tiling_(tiling),
        raw_(tiling.data, tiling.data_capacity) {}

  const StorageShape* GetInputShape(std::size_t i) const { return at(inputs_, i, &View::shape); }
  const StorageShape* GetRequiredInputShape(std::size_t i) const { return GetOptionalInputShape(i); }
  const StorageShape* GetOptionalInputShape(std::size_t i) const { return declared(i, &View::shape); }
  const StorageShape* GetOutputShape(std::size_t i) const { return at(outputs_, i, &View::shape); }
  fe::PlatFormInfos* GetPlatformInfo() { return &platform_; }
  const void* GetCompileInfo() const { return nullptr; }
  std::int32_t GetDeterministic() const { return 1; }

  ge::graphStatus SetBlockDim(std::uint32_t blocks) {
    tiling_.block_dim = blocks;
    return ge::GRAPH_SUCCESS;
  }
  std::uint32_t GetBlockDim() const { return tiling_.block_dim; }
  ge::graphStatus SetTilingKey(std::uint64_t key) {
    tiling_.tiling_key = key;
    return ge::GRAPH_SUCCESS;
  }
  std::uint64_t GetTilingKey() const { return tiling_.tiling_key; }
  ge::graphStatus SetScheduleMode(std::uint32_t mode) {
    tiling_.schedule_mode = mode;
    return ge::GRAPH_SUCCESS;
  }
  std::uint32_t GetScheduleMode() const { return tiling_.schedule_mode; }
  ge::graphStatus SetNeedAtomic(bool) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetLocalMemorySize(std::uint32_t) { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetTilingCond(std::int32_t) { return ge::GRAPH_SUCCESS; }

  TilingData* GetRawTilingData() { return &raw_; }
  /// Tiling data as a plain structure of the kernel; its size is set.
  template <class T>
  T* GetTilingData() {
    if (sizeof(T) > raw_.GetCapacity()) return nullptr;
    raw_.SetDataSize(sizeof(T));
    return static_cast<T*>(raw_.GetData());
  }
  /// Sizes of `count` workspaces, to be filled in; the kernel sees them one behind the other.
  std::size_t* GetWorkspaceSizes(std::size_t count) {
    workspaces_.resize(count);
    return workspaces_.data();
  }
  std::size_t GetWorkspaceNum() const { return workspaces_.size(); }

  /// Hands the results to the caller.
  void finish() {
    tiling_.data_bytes = raw_.GetDataSize();
    tiling_.workspace_bytes = 0;
    for (const std::size_t bytes : workspaces_) tiling_.workspace_bytes += bytes;
  }

 private:
  fe::PlatFormInfos platform_;
  AtcCustomTiling& tiling_;
  TilingData raw_;
  std::vector<std::size_t> workspaces_;
};

/// Only its type is known here.
class TilingParseContext {};

class InferShapeContext : public atc_opp::CallView {
 public:
  InferShapeContext(const AtcCustomCall& call, const char* type, std::size_t outputs)
      : CallView(call, type), shapes_(outputs) {}
  const Shape* GetInputShape(std::size_t i) const { return shape(at(inputs_, i, &View::shape)); }
  const Shape* GetRequiredInputShape(std::size_t i) const { return GetOptionalInputShape(i); }
  const Shape* GetOptionalInputShape(std::size_t i) const { return shape(declared(i, &View::shape)); }
  Shape* GetOutputShape(std::size_t i) { return i < shapes_.size() ? &shapes_[i] : nullptr; }

 private:
  static const Shape* shape(const StorageShape* s) { return s == nullptr ? nullptr : &s->GetOriginShape(); }
  std::vector<Shape> shapes_;
};

class InferDataTypeContext : public atc_opp::CallView {
 public:
  InferDataTypeContext(const AtcCustomCall& call, const char* type, std::vector<ge::DataType> outputs)
      : CallView(call, type), types_(std::move(outputs)) {}
  ge::DataType GetInputDataType(std::size_t i) const {
    const auto* desc = GetInputDesc(i);
    return desc == nullptr ? ge::DT_UNDEFINED : desc->GetDataType();
  }
  ge::DataType GetOptionalInputDataType(std::size_t i) const {
    const auto* desc = GetOptionalInputDesc(i);
    return desc == nullptr ? ge::DT_UNDEFINED : desc->GetDataType();
  }
  ge::DataType GetRequiredInputDataType(std::size_t i) const { return GetOptionalInputDataType(i); }
  ge::DataType GetOutputDataType(std::size_t i) const {
    return i < types_.size() ? types_[i] : ge::DT_UNDEFINED;
  }
  ge::graphStatus SetOutputDataType(std::size_t i, ge::DataType type) {
    if (i >= types_.size()) return ge::GRAPH_FAILED;
    types_[i] = type;
    return ge::GRAPH_SUCCESS;
  }

 private:
  std::vector<ge::DataType> types_;
};

}  // namespace gert
