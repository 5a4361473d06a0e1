#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/compile_run.h"
#include "runtime/one_node.h"
#include "runtime/reference_graph.h"

namespace atc::runtime {

/// Writes a model operator by operator, as an exporter does. Opset 17; f32 unless said otherwise.
class FormWriter {
 public:
  using V = ir::Value*;
  using Attrs = std::vector<std::pair<std::string, ir::Attribute>>;

  FormWriter() : graph_(std::make_unique<ir::Graph>("form")) {}

  V input(Dims dims, DType dtype = DType::F32, double range = 2) {
    const std::string name = "x" + std::to_string(inputs_.size());
    inputs_.push_back(random_values(dtype, dims, static_cast<unsigned>(inputs_.size()) + 7, range));
    return graph_->add_input(name, ir::tensor_type(dtype, dims));
  }
  /// Whole numbers in [0, limit).
  V indices(Dims dims, std::int64_t limit) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(dims)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * 7 + 3) % limit;
    inputs_.push_back(from_int64s(DType::I64, dims, values));
    return graph_->add_input("x" + std::to_string(inputs_.size() - 1), ir::tensor_type(DType::I64, dims));
  }
  V number(double v, DType dtype = DType::F32) { return graph_->add_constant("c", scalar_tensor(dtype, v)); }
  V ints(std::vector<std::int64_t> v) {
    const std::int64_t n = std::ssize(v);
    return graph_->add_constant("i", from_int64s(DType::I64, {n}, v));
  }
  V index(std::int64_t v) {
    return graph_->add_constant("i", from_int64s(DType::I64, {}, std::vector<std::int64_t>{v}));
  }
  V constant(Tensor t) { return graph_->add_constant("k", std::move(t)); }
  V reals(Dims dims, const std::vector<double>& values) {
    return constant(from_doubles(DType::F32, std::move(dims), values));
  }
  /// A constant with values of a trained size.
  V weights(Dims dims, double range = 0.4) {
    return constant(random_values(DType::F32, std::move(dims), ++weights_ + 100, range));
  }

  V op(const std::string& type, std::vector<V> inputs, Attrs attrs = {}, int version = 17) {
    return ops(type, std::move(inputs), 1, std::move(attrs), version)[0];
  }
  std::vector<V> ops(const std::string& type, std::vector<V> inputs, int outputs, Attrs attrs = {},
                     int version = 17) {
    ir::Node* n = graph_->add_node(type, std::move(inputs), outputs, nullptr, {}, version);
    n->name = type + "_" + std::to_string(++nodes_);
    n->sources = {n->name};
    for (auto& [name, value] : attrs) n->attrs.set(name, std::move(value));
    std::vector<V> out(n->outputs().begin(), n->outputs().end());
    for (std::size_t i = 0; i < out.size(); ++i) out[i]->set_name(n->name + "_" + std::to_string(i));
    return out;
  }
  V add(V a, V b) { return op("Add", {a, b}); }
  V sub(V a, V b) { return op("Sub", {a, b}); }
  V mul(V a, V b) { return op("Mul", {a, b}); }
  V div(V a, V b) { return op("Div", {a, b}); }
  V matmul(V a, V b) { return op("MatMul", {a, b}); }
  V reshape(V x, std::vector<std::int64_t> dims) { return op("Reshape", {x, ints(std::move(dims))}); }
  V transpose(V x, Dims perm) { return op("Transpose", {x}, {{"perm", perm}}); }
  V unsqueeze(V x, std::int64_t axis) { return op("Unsqueeze", {x, ints({axis})}); }
  V squeeze(V x, std::int64_t axis) { return op("Squeeze", {x, ints({axis})}); }
  V softmax(V x, std::int64_t axis = -1) { return op("Softmax", {x}, {{"axis", axis}}); }
  V concat(std::vector<V> x, std::int64_t axis) { return op("Concat", std::move(x), {{"axis", axis}}); }
  V cast(V x, DType to) { return op("Cast", {x}, {{"to", static_cast<std::int64_t>(to)}}); }
  V mean(V x, Dims axes = {-1}) {
    return op("ReduceMean", {x}, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
  }
  V most(V x, std::int64_t axis = -1) {
    return op("ReduceMax", {x}, {{"axes", Dims{axis}}, {"keepdims", std::int64_t{1}}});
  }
  V sum(V x, std::int64_t axis, bool keep = false) {
    return op("ReduceSum", {x, ints({axis})}, {{"keepdims", std::int64_t{keep ? 1 : 0}}});
  }
  V slice(V x, std::int64_t axis, std::int64_t from, std::int64_t to, std::int64_t step = 1) {
    return op("Slice", {x, ints({from}), ints({to}), ints({axis}), ints({step})});
  }
  std::vector<V> split(V x, std::int64_t axis, std::vector<std::int64_t> parts) {
    const int n = static_cast<int>(parts.size());
    return ops("Split", {x, ints(std::move(parts))}, n, {{"axis", axis}});
  }
  FormWriter& output(V v) {
    graph_->add_output(v);
    return *this;
  }

  const ir::Graph& graph() const { return *graph_; }
  const std::vector<Tensor>& inputs() const { return inputs_; }

 private:
  std::unique_ptr<ir::Graph> graph_;
  std::vector<Tensor> inputs_;
  unsigned weights_ = 0;
  int nodes_ = 0;
};

/// One way to write something, and what must come of it.
struct ExporterForm {
  std::string name;
  std::function<void(FormWriter&)> write;
  int effects = 1;  ///< effect_times of the fusion
  int tasks = -1;   ///< of the plan in the model's own types; -1: not looked at
};

/// Compiles and runs every form, in fp32 and (on the other generation of chips) in fp16, holds its values
/// against the operators' references and counts the fusion `atc_name` of graph_fusion.
inline void expect_forms(const std::vector<ExporterForm>& forms, std::string_view atc_name,
                         double fp16 = 1e-2) {
  struct Target : CompileTarget {
    double tolerance;
  };
  for (const ExporterForm& form : forms)
    for (const Target& target : {Target{{"Ascend910B3", passes::Precision::Origin}, 2e-5},
                                 Target{{"Ascend310P3", passes::Precision::Fp16}, fp16}}) {
      SCOPED_TRACE(form.name + " on " + std::string(target.chip));
      FormWriter w;
      form.write(w);
      const auto expected = evaluate_reference(w.graph(), w.inputs());
      ASSERT_TRUE(expected.ok()) << expected.status().to_string();
      const std::unique_ptr<ir::Graph> graph = w.graph().clone();
      const auto run = compile_and_run(*graph, target, w.inputs());
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      const auto& counts = run->fusions.graph_fusion();
      const auto found = counts.find(atc_name);
      EXPECT_EQ(found == counts.end() ? 0 : found->second.effect_times, form.effects);
      EXPECT_EQ(join(run->on_ai_cpu, ","), "");
      if (form.tasks >= 0 && target.precision == passes::Precision::Origin) {
        EXPECT_EQ(std::ssize(run->tasks), form.tasks) << join(run->tasks, ", ");
      }
      for (std::size_t i = 0; i < expected->size(); ++i) {
        ASSERT_EQ(run->outputs[i].shape, (*expected)[i].shape);
        // Not EXPECT_LE: a nan has to fail.
        const double error = relative_error(run->outputs[i], (*expected)[i]);
        EXPECT_TRUE(error <= target.tolerance) << "output " << i << ": error " << error;
      }
    }
}

}  // namespace atc::runtime
