// Builds ONNX models for the tests of the frontend.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "atc/base/bytes.h"
#include "atc/base/tensor.h"
#include "atc/ir/graph.h"
#include "frontend/onnx/importer.h"

namespace atc::frontend {

using Strings = std::vector<std::string>;

onnx::AttributeProto attribute(const std::string& name, onnx::AttributeProto::AttributeType type);
onnx::AttributeProto int_attribute(const std::string& name, std::int64_t value);
onnx::AttributeProto graph_attribute(const std::string& name, const onnx::GraphProto& graph);
/// A reference to an attribute of the function around the node.
onnx::AttributeProto reference(const std::string& name, onnx::AttributeProto::AttributeType type,
                               const std::string& function_attribute);

onnx::NodeProto make_node(const std::string& op, const Strings& inputs, const Strings& outputs,
                          const std::string& name = {},
                          std::initializer_list<onnx::AttributeProto> attributes = {},
                          const std::string& domain = {});

onnx::TensorProto make_tensor(const std::string& name, DType dtype, const Dims& dims);
template <class T>
onnx::TensorProto raw_tensor(const std::string& name, DType dtype, const Dims& dims,
                             const std::vector<T>& data) {
  auto t = make_tensor(name, dtype, dims);
  t.set_raw_data(data.data(), data.size() * sizeof(T));
  return t;
}

/// Dims are numbers ("3"), names ("batch"), or "" for a dim without value and name.
onnx::ValueInfoProto make_input(const std::string& name, DType dtype, const Strings& dims);

/// A model of IR version 8, opset 17, with an empty graph called "g".
struct ModelBuilder {
  onnx::ModelProto proto;

  ModelBuilder();
  onnx::GraphProto* graph() { return proto.mutable_graph(); }
  ModelBuilder& opset(const std::string& domain, std::int64_t version);
  ModelBuilder& input(const std::string& name, DType dtype = DType::F32, const Strings& dims = {"2"});
  ModelBuilder& initializer(const onnx::TensorProto& tensor);
  ModelBuilder& node(const onnx::NodeProto& n);
  ModelBuilder& node(const std::string& op, const Strings& inputs, const Strings& outputs,
                     const std::string& name = {},
                     std::initializer_list<onnx::AttributeProto> attributes = {},
                     const std::string& domain = {});
  ModelBuilder& output(const std::string& name);

  std::string serialized() const { return proto.SerializeAsString(); }
};

Bytes bytes_of(const std::string& text);

/// Imported under the name "m.onnx".
StatusOr<ir::Model> load(const std::string& serialized, const std::filesystem::path& base_dir = {});
StatusOr<ir::Model> load(const ModelBuilder& model, const std::filesystem::path& base_dir = {});

/// A folder of its own that goes with the object.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

/// Nodes as "Op(inputs)->outputs", one for each line; "_" for absent ones.
std::string outline(const ir::Graph& graph);

/// The first of its type; null when there is none.
const ir::Node* find_node(const ir::Graph& graph, const std::string& op);
const ir::Value* find_value(const ir::Graph& graph, const std::string& name);

}  // namespace atc::frontend
