// Random QDQ networks the whole way: within one quantization step of what the operators' references give.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "atc/ir/text.h"
#include "passes/infer_shapes.h"
#include "runtime/compile_run.h"
#include "runtime/reference_graph.h"

namespace atc::runtime {
namespace {

using ir::Node;
using ir::Value;

struct Params {
  double scale;
  int zero;
  DType dtype;
};

/// A quantized activation and its dequantized form.
struct Activation {
  Value* dequantized;
  Dims dims;
};

class QuantizedNetwork {
 public:
  explicit QuantizedNetwork(unsigned seed) : rng_(seed), graph_(std::make_unique<ir::Graph>("q")) {}

  std::unique_ptr<ir::Graph> make() {
    Dims dims = {between(1, 2), between(1, 40), between(5, 12), between(5, 12)};
    Activation x = quantized(graph_->add_input("x", ir::tensor_type(DType::F32, dims)), dims);
    const std::int64_t layers = between(1, 3);
    for (std::int64_t i = 0; i < layers; ++i) x = layer(x);
    if (chance(50)) {
      x.dims = {x.dims[0], x.dims[1], 1, 1};
      x = quantized(add("GlobalAveragePool", {x.dequantized}), x.dims);
    }
    finish(x);
    return std::move(graph_);
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  Value* add(const std::string& type, std::vector<Value*> inputs) {
    return node(type, std::move(inputs))->output(0);
  }
  Node* node(const std::string& type, std::vector<Value*> inputs) {
    return graph_->add_node(type, std::move(inputs), 1, nullptr, {}, 13);
  }
  Value* number(DType dtype, double v) { return graph_->add_constant("c", scalar_tensor(dtype, v)); }

  // Values stay within about +-4.
  Params params() {
    const bool u8 = chance(60);
    Params p{static_cast<double>(static_cast<float>(0.02 + 0.001 * static_cast<double>(between(0, 20)))), 0,
             u8 ? DType::U8 : DType::I8};
    p.zero = static_cast<int>(u8 ? between(60, 200) : between(-60, 60));
    if (chance(10)) p.zero = u8 ? 0 : -128;
    return p;
  }
  std::vector<Value*> with(Value* v, const Params& p) {
    return {v, number(DType::F32, p.scale), number(p.dtype, p.zero)};
  }
  Activation quantized(Value* v, const Dims& dims) {
    const Params p = params();
    last_ = p;
    return {add("DequantizeLinear", with(add("QuantizeLinear", with(v, p)), p)), dims};
  }

  // A weight with one scale a channel of `axis` or one for all, sometimes with a zero point.
  Value* weight(const Dims& dims, std::int64_t axis, double fan_in) {
    const bool asymmetric = chance(25);
    std::vector<double> w(static_cast<std::size_t>(element_count(dims)));
    for (double& v : w) v = static_cast<double>(between(-100, 100)) + (asymmetric ? 20 : 0);
    const std::int64_t channels = dims[static_cast<std::size_t>(axis)];
    const std::int64_t count = chance(70) ? channels : 1;
    weight_scales_.clear();
    std::vector<double> zeros(static_cast<std::size_t>(count), asymmetric ? 20 : 0);
    for (std::int64_t i = 0; i < count; ++i)
      weight_scales_.push_back(static_cast<float>(1.0 / 60 / std::sqrt(fan_in) *
                                                  (0.5 + 0.1 * static_cast<double>(between(0, 9)))));
    const std::vector<double> scales(weight_scales_.begin(), weight_scales_.end());
    const Dims shape = count == 1 && chance(50) ? Dims{} : Dims{count};
    Node* dq = node("DequantizeLinear", {graph_->add_constant("w", from_doubles(DType::I8, dims, w)),
                                         graph_->add_constant("ws", from_doubles(DType::F32, shape, scales)),
                                         graph_->add_constant("wz", from_doubles(DType::I8, shape, zeros))});
    dq->attrs.set("axis", axis);
    return dq->output(0);
  }

  // Quantized with the product's scale, with another, or floating; or none.
  Value* bias(std::int64_t channels) {
    if (chance(15)) return nullptr;
    std::vector<double> b(static_cast<std::size_t>(channels)), counts = b, scales = b;
    for (std::size_t c = 0; c < b.size(); ++c) {
      b[c] = static_cast<double>(between(-50, 50)) / 50;
      scales[c] = static_cast<double>(static_cast<float>(last_.scale) *
                                      weight_scales_[weight_scales_.size() == 1 ? 0 : c]);
      if (chance_other_scale_) scales[c] *= 2;
      counts[c] = std::round(b[c] / scales[c]);
    }
    if (chance(25)) return graph_->add_constant("b", from_doubles(DType::F32, {channels}, b));
    Node* dq =
        node("DequantizeLinear", {graph_->add_constant("bq", from_doubles(DType::I32, {channels}, counts)),
                                  graph_->add_constant("bs", from_doubles(DType::F32, {channels}, scales))});
    dq->attrs.set("axis", std::int64_t{0});
    return dq->output(0);
  }

  Activation layer(const Activation& x) {
    const std::int64_t out = between(1, 5) * 8 + (chance(50) ? between(1, 7) : 0);
    const std::int64_t group = chance(15) && x.dims[1] % 2 == 0 ? 2 : 1;
    const std::int64_t channels = out / group * group;
    const std::int64_t kernel = between(1, std::min<std::int64_t>(3, std::min(x.dims[2], x.dims[3]))),
                       stride = between(1, 2), pad = between(0, kernel - 1);
    chance_other_scale_ = chance(20);
    Value* w = weight({channels, x.dims[1] / group, kernel, kernel}, 0,
                      static_cast<double>(x.dims[1] / group * kernel * kernel));
    std::vector<Value*> inputs = {x.dequantized, w};
    if (Value* b = bias(channels)) inputs.push_back(b);
    Node* conv = node("Conv", std::move(inputs));
    conv->attrs.set("pads", Dims{pad, pad, pad, pad});
    conv->attrs.set("strides", Dims{stride, stride});
    conv->attrs.set("group", group);
    Dims dims = {x.dims[0], channels, (x.dims[2] + 2 * pad - kernel) / stride + 1,
                 (x.dims[3] + 2 * pad - kernel) / stride + 1};
    Value* y = conv->output(0);
    if (chance(50)) y = add(chance(70) ? "Relu" : "Sigmoid", {y});
    Activation a = quantized(y, dims);
    switch (between(0, 4)) {
      case 0:
        if (a.dims == x.dims)
          return quantized(add("Relu", {add("Add", {a.dequantized, x.dequantized})}), dims);
        break;
      case 1: {
        Node* pool = node("MaxPool", {a.dequantized});
        pool->attrs.set("kernel_shape", Dims{2, 2});
        pool->attrs.set("pads", Dims{0, 0, 1, 1});
        return quantized(pool->output(0), dims);
      }
      case 2: {
        Node* concat = node("Concat", {a.dequantized, a.dequantized});
        concat->attrs.set("axis", std::int64_t{1});
        dims[1] *= 2;
        return quantized(concat->output(0), dims);
      }
      default:
        break;
    }
    return a;
  }

  void finish(const Activation& x) {
    const std::int64_t features = x.dims[1] * x.dims[2] * x.dims[3];
    Node* flat = node("Flatten", {x.dequantized});
    const bool transposed = chance(50);
    chance_other_scale_ = chance(20);
    const std::int64_t out = between(1, 40);
    Value* w = weight(transposed ? Dims{out, features} : Dims{features, out}, transposed ? 0 : 1,
                      static_cast<double>(features));
    std::vector<Value*> inputs = {flat->output(0), w};
    if (Value* b = bias(out)) inputs.push_back(b);
    Node* gemm = node("Gemm", std::move(inputs));
    gemm->attrs.set("transB", std::int64_t{transposed ? 1 : 0});
    const Params p = params();
    Value* q = add("QuantizeLinear", with(gemm->output(0), p));
    q->set_name("q");
    graph_->add_output(q);
  }

  std::mt19937 rng_;
  std::unique_ptr<ir::Graph> graph_;
  Params last_{};
  std::vector<float> weight_scales_;
  bool chance_other_scale_ = false;
};

class RandomQuantized : public testing::TestWithParam<passes::Precision> {};

TEST_P(RandomQuantized, StaysWithinOneStepOnTheInt8Cube) {
  int integers = 0, others = 0;
  std::int64_t elements = 0, off_by_more = 0, different = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto graph = QuantizedNetwork(seed).make();
    passes::PassContext context;
    ASSERT_TRUE(passes::infer_shapes_pass().run(*graph, context).ok());
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal(0, 1.5);
    std::vector<double> values(static_cast<std::size_t>(element_count(graph->inputs()[0]->type.dims())));
    for (double& v : values) v = normal(rng);
    const Tensor input = from_doubles(DType::F32, graph->inputs()[0]->type.dims(), values);
    const auto expected = evaluate_reference(*graph, {input});
    ASSERT_TRUE(expected.ok()) << expected.status().to_string();
    const std::string before = ir::print(*graph, {.max_constant_elements = 8});
    const auto actual = compile_and_run(*graph, {"Ascend910B3", GetParam()}, {input});
    ASSERT_TRUE(actual.ok()) << actual.status().to_string() << before;
    const Tensor& value = actual->outputs[0];
    ASSERT_EQ(value.dtype, (*expected)[0].dtype);
    const auto a = to_doubles(value), e = to_doubles((*expected)[0]);
    ASSERT_EQ(a.size(), e.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_LE(std::abs(a[i] - e[i]), 4) << i << before << ir::print(*graph, {.max_constant_elements = 8});
      ++elements;
      off_by_more += std::abs(a[i] - e[i]) > 1 ? 1 : 0;
      different += a[i] != e[i] ? 1 : 0;
    }
    for (const auto& n : graph->nodes())
      if (n->is_internal("Conv") || n->is_internal("MatMul"))
        ++(n->input(0)->type.dtype == DType::I8 ? integers : others);
  }
  EXPECT_LE(static_cast<double>(off_by_more), 0.001 * static_cast<double>(elements));
  if (GetParam() == passes::Precision::Origin) {
    EXPECT_LE(static_cast<double>(different), 0.01 * static_cast<double>(elements));
  }
  EXPECT_GT(integers, 120);
  EXPECT_EQ(others, 0);
}

INSTANTIATE_TEST_SUITE_P(, RandomQuantized,
                         testing::Values(passes::Precision::Origin, passes::Precision::Fp16),
                         [](const auto& tested) {
                           return tested.param == passes::Precision::Origin ? "Origin" : "Fp16";
                         });

}  // namespace
}  // namespace atc::runtime
