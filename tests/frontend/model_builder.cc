#include "model_builder.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <span>

namespace atc::frontend {

onnx::AttributeProto attribute(const std::string& name, onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto a;
  a.set_name(name);
  a.set_type(type);
  return a;
}

onnx::AttributeProto int_attribute(const std::string& name, std::int64_t value) {
  auto a = attribute(name, onnx::AttributeProto::INT);
  a.set_i(value);
  return a;
}

onnx::AttributeProto graph_attribute(const std::string& name, const onnx::GraphProto& graph) {
  auto a = attribute(name, onnx::AttributeProto::GRAPH);
  *a.mutable_g() = graph;
  return a;
}

onnx::AttributeProto reference(const std::string& name, onnx::AttributeProto::AttributeType type,
                               const std::string& function_attribute) {
  auto a = attribute(name, type);
  a.set_ref_attr_name(function_attribute);
  return a;
}

onnx::NodeProto make_node(const std::string& op, const Strings& inputs, const Strings& outputs,
                          const std::string& name, std::initializer_list<onnx::AttributeProto> attributes,
                          const std::string& domain) {
  onnx::NodeProto n;
  n.set_op_type(op);
  for (const auto& i : inputs) n.add_input(i);
  for (const auto& o : outputs) n.add_output(o);
  if (!name.empty()) n.set_name(name);
  if (!domain.empty()) n.set_domain(domain);
  for (const auto& a : attributes) *n.add_attribute() = a;
  return n;
}

onnx::TensorProto make_tensor(const std::string& name, DType dtype, const Dims& dims) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(static_cast<int>(dtype));
  for (const auto d : dims) t.add_dims(d);
  return t;
}

onnx::ValueInfoProto make_input(const std::string& name, DType dtype, const Strings& dims) {
  onnx::ValueInfoProto v;
  v.set_name(name);
  auto* tensor = v.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(static_cast<int>(dtype));
  tensor->mutable_shape();
  for (const auto& d : dims) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (d.empty()) continue;
    const bool number = d.find_first_not_of("-0123456789") == std::string::npos;
    if (number) {
      dim->set_dim_value(std::stoll(d));
    } else {
      dim->set_dim_param(d);
    }
  }
  return v;
}

ModelBuilder::ModelBuilder() {
  proto.set_ir_version(8);
  opset("", 17);
  graph()->set_name("g");
}

ModelBuilder& ModelBuilder::opset(const std::string& domain, std::int64_t version) {
  auto* entry = proto.add_opset_import();
  entry->set_domain(domain);
  entry->set_version(version);
  return *this;
}

ModelBuilder& ModelBuilder::input(const std::string& name, DType dtype, const Strings& dims) {
  *graph()->add_input() = make_input(name, dtype, dims);
  return *this;
}

ModelBuilder& ModelBuilder::initializer(const onnx::TensorProto& tensor) {
  *graph()->add_initializer() = tensor;
  return *this;
}

ModelBuilder& ModelBuilder::node(const onnx::NodeProto& n) {
  *graph()->add_node() = n;
  return *this;
}

ModelBuilder& ModelBuilder::node(const std::string& op, const Strings& inputs, const Strings& outputs,
                                 const std::string& name,
                                 std::initializer_list<onnx::AttributeProto> attributes,
                                 const std::string& domain) {
  return node(make_node(op, inputs, outputs, name, attributes, domain));
}

ModelBuilder& ModelBuilder::output(const std::string& name) {
  graph()->add_output()->set_name(name);
  return *this;
}

Bytes bytes_of(const std::string& text) {
  return Bytes::copy_of(std::as_bytes(std::span(text.data(), text.size())));
}

StatusOr<ir::Model> load(const std::string& serialized, const std::filesystem::path& base_dir) {
  return import_model(bytes_of(serialized), base_dir, "m.onnx");
}

StatusOr<ir::Model> load(const ModelBuilder& model, const std::filesystem::path& base_dir) {
  return load(model.serialized(), base_dir);
}

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "atc_frontend_XXXXXX").string();
  path_ = ::mkdtemp(name.data());
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TempFolder::write(const std::string& name, const std::string& content) const {
  const auto file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
  return file;
}

std::string outline(const ir::Graph& graph) {
  const auto list = [](std::span<ir::Value* const> values) {
    std::string text;
    for (const ir::Value* v : values) text += (text.empty() ? "" : ",") + (v == nullptr ? "_" : v->name());
    return text;
  };
  std::string text;
  for (const auto& n : graph.nodes())
    text += n->op_type + "(" + list(n->inputs()) + ")->" + list(n->outputs()) + "\n";
  return text;
}

const ir::Node* find_node(const ir::Graph& graph, const std::string& op) {
  for (const auto& n : graph.nodes())
    if (n->op_type == op) return n.get();
  return nullptr;
}

const ir::Value* find_value(const ir::Graph& graph, const std::string& name) {
  for (const ir::Value* v : graph.values())
    if (v->name() == name) return v;
  return nullptr;
}

}  // namespace atc::frontend
