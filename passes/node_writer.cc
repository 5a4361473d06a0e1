#include "passes/node_writer.h"

#include "ops/reduce.h"
#include "passes/rewrite.h"

namespace atc::passes {

using ir::Node;
using ir::Value;

namespace {
constexpr int kOpset = 17;  // of the nodes written here
}

Node* NodeWriter::insert(std::string type, std::vector<Value*> inputs, const ir::TensorType& out,
                         const std::string& suffix) {
  Node* n = graph_.add_node(std::move(type), std::move(inputs), 1, &node_, {}, kOpset);
  n->name = node_.name.empty() ? suffix : node_.name + "/" + suffix;
  n->sources = node_.sources;
  n->output(0)->type = out;
  return n;
}

Value* NodeWriter::binary(const std::string& type, Value* a, Value* b, const Value* like,
                          const std::string& suffix) {
  return insert(type, {a, b}, ir::tensor_type(a->type.dtype, like->type.dims()), suffix)->output(0);
}

Value* NodeWriter::unary(const std::string& type, Value* x, const std::string& suffix) {
  return insert(type, {x}, x->type, suffix)->output(0);
}

Value* NodeWriter::mean(Value* x, const Dims& axes, const std::string& suffix) {
  const Dims kept = ops::reduced_shape(x->type.dims(), axes, true);
  Node* n = insert("ReduceMean", {x}, ir::tensor_type(x->type.dtype, kept), suffix);
  n->attrs.set("axes", axes);
  n->attrs.set("keepdims", std::int64_t{1});
  return n->output(0);
}

Value* NodeWriter::scalar(double value, DType dtype, const std::string& suffix) {
  return graph_.add_constant(node_.name + "/" + suffix, scalar_tensor(dtype, value));
}

Value* NodeWriter::int64s(const Dims& values, const std::string& suffix) {
  return graph_.add_constant(node_.name + "/" + suffix,
                             from_int64s(DType::I64, {std::ssize(values)}, values));
}

Value* NodeWriter::reshape(Value* x, const Dims& dims, const std::string& suffix) {
  if (x->type.dims() == dims) return x;
  Node* n =
      insert("Reshape", {x, int64s(dims, suffix + "_shape")}, ir::tensor_type(x->type.dtype, dims), suffix);
  n->attrs.set("allowzero", std::int64_t{1});
  return n->output(0);
}

void NodeWriter::finish(Value* y) {
  replace_value(node_.output(0), y);
  graph_.erase(&node_);
}

}  // namespace atc::passes
