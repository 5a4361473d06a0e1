#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "atc/base/strings.h"
#include "atc/ir/graph.h"
#include "ops/op.h"

// One node of the registry under test: build it, infer it, evaluate it.
namespace atc::ops {

inline Tensor f32(Dims shape, std::vector<double> values) {
  return from_doubles(DType::F32, std::move(shape), values);
}
inline Tensor i64(Dims shape, std::vector<std::int64_t> values) {
  return from_int64s(DType::I64, std::move(shape), values);
}
inline Tensor tensor_of(DType dtype, Dims shape, const std::vector<double>& values) {
  return from_doubles(dtype, std::move(shape), values);
}

/// Repeatable values in [-2, 2), different for each seed.
inline std::vector<double> noise(std::size_t count, unsigned seed) {
  std::vector<double> out(count);
  std::uint64_t state = seed * 2654435761U + 1;
  for (double& v : out) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    v = static_cast<double>(state >> 40U) / static_cast<double>(1U << 22U) - 2;
  }
  return out;
}
inline Tensor noise_tensor(Dims shape, unsigned seed, DType dtype = DType::F32) {
  const auto count = static_cast<std::size_t>(element_count(shape));
  return from_doubles(dtype, std::move(shape), noise(count, seed));
}

class NodeCase {
 public:
  NodeCase(std::string op_type, int version, int outputs = 1, std::string domain = {})
      : graph_("test"),
        node_(graph_.add_node(std::move(op_type), {}, outputs, nullptr, std::move(domain), version)) {
    node_->name = "n0";
  }

  /// A constant input: inference sees its value.
  NodeCase& constant(Tensor t) {
    tensors_.push_back(t);
    node_->add_input(graph_.add_constant("c" + std::to_string(tensors_.size()), std::move(t)));
    return *this;
  }
  /// A graph input with a value for evaluation that inference does not see.
  NodeCase& data(Tensor t) {
    ir::TensorType type = ir::tensor_type(t.dtype, t.shape);
    tensors_.push_back(std::move(t));
    return add(std::move(type));
  }
  /// A graph input without a value, for inference only.
  NodeCase& typed(DType dtype, std::optional<ir::Shape> shape) {
    tensors_.emplace_back();
    return add(ir::TensorType{dtype, std::move(shape), ir::Format::ND});
  }
  NodeCase& typed(DType dtype, const Dims& dims) { return typed(dtype, std::optional(ir::to_shape(dims))); }
  /// A 1-D i64 input of which inference knows the elements as far as stated: axis lengths in the making.
  NodeCase& shape_value(ir::Shape known) {
    typed(DType::I64, Dims{static_cast<std::int64_t>(known.size())});
    known_[node_->inputs().back()] = std::move(known);
    return *this;
  }
  NodeCase& absent() {
    tensors_.emplace_back();
    node_->add_input(nullptr);
    return *this;
  }
  NodeCase& attr(const std::string& name, ir::Attribute value) {
    node_->attrs.set(name, std::move(value));
    return *this;
  }
  NodeCase& attr(const std::string& name, int value) {
    return attr(name, ir::Attribute(std::int64_t{value}));
  }
  NodeCase& attr(const std::string& name, float value) { return attr(name, ir::Attribute(value)); }
  NodeCase& attr(const std::string& name, const char* value) {
    return attr(name, ir::Attribute(std::string(value)));
  }
  NodeCase& ints(const std::string& name, std::vector<std::int64_t> value) {
    return attr(name, ir::Attribute(std::move(value)));
  }

  ir::Node& node() { return *node_; }

  /// Schema check and inference; the types are then in `types`.
  Status infer() {
    const OpDef* def = Registry::instance().find(*node_);
    if (!def) return Status::error("E16002", "no definition");
    ATC_TRY(check_schema(*node_, *def));
    InferContext ctx(*node_);
    int symbols = 0;
    ctx.next_symbol = [&symbols] { return "?" + std::to_string(symbols++); };
    ctx.lookup_dims = [this](const ir::Value* v) -> std::optional<ir::Shape> {
      const auto at = known_.find(v);
      return at == known_.end() ? std::nullopt : std::optional(at->second);
    };
    ATC_TRY(def->infer(ctx));
    types = ctx.outputs;
    elements = ctx.dims_values;
    return {};
  }
  /// Type of output i as text, or the error.
  std::string inferred(std::size_t i = 0) {
    const Status status = infer();
    if (!status.ok()) return status.to_string();
    return types[i] ? ir::to_string(*types[i]) : "(none)";
  }

  /// What inference knows of the elements of output i: "3,batch,-1", or the error, or "(none)".
  std::string inferred_elements(std::size_t i = 0) {
    const Status status = infer();
    if (!status.ok()) return status.to_string();
    if (!elements[i]) return "(none)";
    std::vector<std::string> parts;
    for (const ir::Dim& d : *elements[i])
      parts.push_back(d.symbol.empty() ? std::to_string(d.value) : d.symbol);
    return join(parts, ",");
  }

  /// Infers, evaluates, and checks that what is known of the outputs' types holds.
  std::vector<Tensor> run() {
    const Status inferred_status = infer();
    EXPECT_TRUE(inferred_status.ok()) << inferred_status.to_string();
    std::vector<const Tensor*> inputs;
    for (const Tensor& t : tensors_) inputs.push_back(t.dtype == DType::Undefined ? nullptr : &t);
    EvalContext ctx(*node_, inputs);
    const Status status = Registry::instance().find(*node_)->reference(ctx);
    EXPECT_TRUE(status.ok()) << status.to_string();
    if (!status.ok() || !inferred_status.ok()) return {};
    for (std::size_t i = 0; i < ctx.outputs.size(); ++i) expect_type(ctx.outputs[i], i);
    return std::move(ctx.outputs);
  }
  Tensor run_one() {
    std::vector<Tensor> out = run();
    return out.empty() ? Tensor() : out[0];
  }

  std::vector<std::optional<ir::TensorType>> types;
  std::vector<std::optional<ir::Shape>> elements;

 private:
  NodeCase& add(ir::TensorType type) {
    node_->add_input(graph_.add_input("x" + std::to_string(tensors_.size()), std::move(type)));
    return *this;
  }
  void expect_type(const Tensor& t, std::size_t i) const {
    if (!node_->output(i)) return;
    ASSERT_TRUE(types[i].has_value()) << "output " << i;
    EXPECT_EQ(t.dtype, types[i]->dtype) << "output " << i;
    if (!types[i]->shape) return;
    ASSERT_EQ(t.shape.size(), types[i]->shape->size()) << "output " << i;
    for (std::size_t axis = 0; axis < t.shape.size(); ++axis) {
      const ir::Dim& dim = (*types[i]->shape)[axis];
      if (dim.known()) {
        EXPECT_EQ(t.shape[axis], dim.value) << "output " << i << " axis " << axis;
      }
    }
  }

  ir::Graph graph_;
  ir::Node* node_;
  std::vector<Tensor> tensors_;
  std::map<const ir::Value*, ir::Shape> known_;
};

/// Every element within `tolerance` (absolute) of `expected`.
inline void expect_near(const Tensor& t, const Dims& shape, const std::vector<double>& expected,
                        double tolerance = 1e-5) {
  EXPECT_EQ(t.shape, shape);
  const std::vector<double> got = to_doubles(t);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], tolerance) << "element " << i;
}

}  // namespace atc::ops
