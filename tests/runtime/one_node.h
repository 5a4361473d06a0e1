#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "atc/base/strings.h"
#include "ops/op.h"
#include "runtime/compile_run.h"
#include "runtime/reference_graph.h"

namespace atc::runtime {

/// A model of one operator: compiled, run on the simulated AI Core, and held against the operator's
/// reference, which ONNX's own data is held against elsewhere.
class OneNode {
 public:
  OneNode(std::string op_type, int version, std::size_t outputs = 1)
      : graph_("one"),
        node_(graph_.add_node(std::move(op_type), {}, static_cast<int>(outputs), nullptr, {}, version)) {
    node_->name = "n";
    for (std::size_t i = 0; i < outputs; ++i) {
      node_->output(i)->set_name("y" + std::to_string(i));
      graph_.add_output(node_->output(i));
    }
  }
  OneNode& input(Tensor t) {
    node_->add_input(
        graph_.add_input("x" + std::to_string(inputs_.size()), ir::tensor_type(t.dtype, t.shape)));
    inputs_.push_back(std::move(t));
    return *this;
  }
  OneNode& constant(Tensor t) {
    node_->add_input(graph_.add_constant("c" + std::to_string(node_->inputs().size()), std::move(t)));
    return *this;
  }
  OneNode& absent() {
    node_->add_input(nullptr);
    return *this;
  }
  OneNode& attr(const std::string& name, std::int64_t value) {
    node_->attrs.set(name, value);
    return *this;
  }
  OneNode& attr(const std::string& name, const char* value) {
    node_->attrs.set(name, std::string(value));
    return *this;
  }
  OneNode& real(const std::string& name, float value) {
    node_->attrs.set(name, value);
    return *this;
  }
  OneNode& ints(const std::string& name, std::vector<std::int64_t> value) {
    node_->attrs.set(name, std::move(value));
    return *this;
  }

  /// Nothing runs on the AI CPU, and every element is within `tolerance` (relative to 1 or its size) of the
  /// reference's, on a chip of each generation.
  void expect_on_ai_core(double tolerance = 0) {
    for (const char* chip : {"Ascend910B3", "Ascend310P3"}) {
      SCOPED_TRACE(chip);
      const auto run = compiled(chip);
      ASSERT_TRUE(run.ok()) << run.status().to_string();
      EXPECT_EQ(join(run->on_ai_cpu, ","), "");
      compare(run->outputs, tolerance);
    }
  }
  /// The AI CPU runs it, for the reason that the test's name gives.
  void expect_on_ai_cpu() {
    const auto run = compiled("Ascend910B3");
    ASSERT_TRUE(run.ok()) << run.status().to_string();
    EXPECT_EQ(join(run->on_ai_cpu, ","), node_->op_type);
    compare(run->outputs, 0);
  }
  /// What compiling and running it says.
  std::string status() {
    const auto run = compiled("Ascend910B3");
    return run.ok() ? "" : run.status().to_string();
  }
  StatusOr<CompiledRun> compiled(std::string_view chip) {
    const std::unique_ptr<ir::Graph> graph = graph_.clone();
    return compile_and_run(*graph, {chip, passes::Precision::Origin}, inputs_);
  }

 private:
  void compare(const std::vector<Tensor>& outputs, double tolerance) {
    const auto expected = evaluate_reference(graph_, inputs_);
    ASSERT_TRUE(expected.ok()) << expected.status().to_string();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ASSERT_EQ(outputs[i].dtype, (*expected)[i].dtype);
      ASSERT_EQ(outputs[i].shape, (*expected)[i].shape);
      if (tolerance == 0) {
        EXPECT_TRUE(std::ranges::equal(outputs[i].data.span(), (*expected)[i].data.span())) << "output " << i;
        continue;
      }
      const std::vector<double> a = to_doubles(outputs[i]), e = to_doubles((*expected)[i]);
      for (std::size_t k = 0; k < e.size(); ++k)
        ASSERT_TRUE(a[k] == e[k] || std::abs(a[k] - e[k]) <= tolerance * std::max(1.0, std::abs(e[k])))
            << "output " << i << " element " << k << ": " << a[k] << ", expected " << e[k];
    }
  }

  ir::Graph graph_;
  ir::Node* node_;
  std::vector<Tensor> inputs_;
};

/// Values in [-range, range]; whole ones for integers.
inline Tensor random_values(DType dtype, Dims shape, unsigned seed, double range = 3) {
  std::mt19937 rng(seed);
  std::uniform_real_distribution<double> dist(-range, range);
  std::vector<double> v(static_cast<std::size_t>(element_count(shape)));
  for (double& x : v) {
    x = dist(rng);
    if (!is_float(dtype)) x = dtype == DType::Bool ? (x > 0 ? 1 : 0) : std::round(x);
  }
  return from_doubles(dtype, std::move(shape), v);
}

/// Integers in [low, high].
inline Tensor random_integers(DType dtype, Dims shape, std::int64_t low, std::int64_t high, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::vector<std::int64_t> v(static_cast<std::size_t>(element_count(shape)));
  for (std::int64_t& x : v)
    x = low + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(high - low + 1));
  return from_int64s(dtype, std::move(shape), v);
}

}  // namespace atc::runtime
