// A decoder block as quantization tools write it, QuantizeLinear and DequantizeLinear around every product
// and sum: embedding, RMS norm, rotary embedding, attention, gated feed-forward. fp16 must not move what is
// quantized next across the boundary between two steps.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "passes/infer_shapes.h"
#include "runtime/compile_run.h"
#include "runtime/reference_graph.h"

namespace atc::runtime {
namespace {

using ir::Node;
using ir::Value;

constexpr std::int64_t kRows = 24, kWidth = 64, kHeads = 4, kHead = 16, kHidden = 96, kWords = 200;
constexpr double kResidualScale = 0.05;

class Block {
 public:
  explicit Block(unsigned seed) : rng_(seed), graph_(std::make_unique<ir::Graph>("block")) {}

  std::unique_ptr<ir::Graph> make() {
    Value* ids = graph_->add_input("ids", ir::tensor_type(DType::I64, {1, kRows}));
    Value* positions = graph_->add_input("positions", ir::tensor_type(DType::I64, {1, kRows}));
    Value* x = add("Gather", {random("embedding", {kWords, kWidth}, 1), ids});
    for (int layer = 0; layer < 2; ++layer) x = feed_forward(attention(x, positions));
    Value* y = add("QuantizeLinear", with(x, kResidualScale, 128));
    graph_->add_output(y);
    return std::move(graph_);
  }

 private:
  Node* node(const std::string& type, std::vector<Value*> inputs) {
    return graph_->add_node(type, std::move(inputs), 1, nullptr, {}, 13);
  }
  Value* add(const std::string& type, std::vector<Value*> inputs) {
    return node(type, std::move(inputs))->output(0);
  }
  Value* number(DType dtype, double v) { return graph_->add_constant("c", scalar_tensor(dtype, v)); }
  Value* shape(const Dims& dims) {
    return graph_->add_constant("shape", from_int64s(DType::I64, {std::ssize(dims)}, dims));
  }
  Value* random(const std::string& name, const Dims& dims, double deviation) {
    std::normal_distribution<double> normal(0, deviation);
    std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
    for (double& v : values) v = normal(rng_);
    return graph_->add_constant(name, from_doubles(DType::F32, dims, values));
  }
  std::vector<Value*> with(Value* v, double scale, int zero) {
    return {v, number(DType::F32, scale), number(DType::U8, zero)};
  }
  // Quantized to 8 bits and back.
  Value* qdq(Value* v, double scale, int zero) {
    return add("DequantizeLinear", with(add("QuantizeLinear", with(v, scale, zero)), scale, zero));
  }

  // x * W with an int8 weight of one scale a column.
  Value* linear(Value* x, std::int64_t in, std::int64_t out) {
    std::vector<double> w(static_cast<std::size_t>(in * out)), scales(static_cast<std::size_t>(out));
    for (double& v : w) v = static_cast<double>(static_cast<int>(rng_() % 255) - 127);
    for (double& s : scales)
      s = (0.8 + 0.002 * static_cast<double>(rng_() % 200)) / 73 / std::sqrt(static_cast<double>(in));
    const std::vector<double> zeros(scales.size(), 0.0);
    Node* dq = node("DequantizeLinear", {graph_->add_constant("w", from_doubles(DType::I8, {in, out}, w)),
                                         graph_->add_constant("ws", from_doubles(DType::F32, {out}, scales)),
                                         graph_->add_constant("wz", from_doubles(DType::I8, {out}, zeros))});
    dq->attrs.set("axis", std::int64_t{1});
    return add("MatMul", {x, dq->output(0)});
  }

  Value* norm(Value* x) {
    Node* mean = node("ReduceMean", {add("Pow", {x, number(DType::F32, 2)})});
    mean->attrs.set("axes", Dims{-1});
    Value* root = add("Sqrt", {add("Add", {mean->output(0), number(DType::F32, 1e-5)})});
    return qdq(add("Mul", {add("Div", {x, root}), random("gain", {kWidth}, 1)}), 0.04, 120);
  }

  Value* slice(Value* x, std::int64_t from, std::int64_t to) {
    return add("Slice", {x, shape({from}), shape({to}), shape({3})});
  }
  // [1, rows, width] -> [1, heads, rows, head]
  Value* heads(Value* x) {
    Node* t = node("Transpose", {add("Reshape", {x, shape({1, kRows, kHeads, kHead})})});
    t->attrs.set("perm", Dims{0, 2, 1, 3});
    return t->output(0);
  }
  Value* angle_table(Value* positions, double (*f)(double)) {
    std::vector<double> values;
    for (std::int64_t p = 0; p < 256; ++p)
      for (std::int64_t i = 0; i < kHead; ++i)
        values.push_back(f(static_cast<double>(p) * std::pow(0.3, static_cast<double>(i % (kHead / 2)))));
    Value* table = graph_->add_constant("angles", from_doubles(DType::F32, {256, kHead}, values));
    return add("Unsqueeze", {add("Gather", {table, positions}), shape({1})});
  }
  Value* rotate(Value* x, Value* cosine, Value* sine) {
    Node* turned = node("Concat", {qdq(add("Neg", {slice(x, kHead / 2, kHead)}), 0.04, 128),
                                   qdq(slice(x, 0, kHead / 2), 0.04, 128)});
    turned->attrs.set("axis", std::int64_t{-1});
    return add("Add", {qdq(add("Mul", {x, cosine}), 0.04, 128),
                       qdq(add("Mul", {turned->output(0), sine}), 0.04, 128)});
  }

  Value* attention(Value* x, Value* positions) {
    Value* n = norm(x);
    Value* cosine = angle_table(positions, std::cos);
    Value* sine = angle_table(positions, std::sin);
    Value* q = qdq(rotate(heads(linear(n, kWidth, kWidth)), cosine, sine), 0.05, 130);
    Node* kt = node("Transpose", {rotate(heads(linear(n, kWidth, kWidth)), cosine, sine)});
    kt->attrs.set("perm", Dims{0, 1, 3, 2});
    Value* v = qdq(heads(linear(n, kWidth, kWidth)), 0.04, 125);
    Value* scores =
        add("Mul", {add("MatMul", {q, qdq(kt->output(0), 0.047, 126)}), number(DType::F32, 0.25)});
    Node* softmax = node("Softmax", {qdq(scores, 0.06, 128)});
    softmax->attrs.set("axis", std::int64_t{-1});
    Node* back = node("Transpose", {add("MatMul", {qdq(softmax->output(0), 1.0 / 255, 0), v})});
    back->attrs.set("perm", Dims{0, 2, 1, 3});
    Value* mixed = qdq(add("Reshape", {back->output(0), shape({1, kRows, kWidth})}), 0.03, 128);
    return sum(x, linear(mixed, kWidth, kWidth));
  }

  Value* feed_forward(Value* x) {
    Value* n = norm(x);
    Value* gate = linear(n, kWidth, kHidden);
    Value* up = linear(n, kWidth, kHidden);
    Value* gated = add("Mul", {add("Mul", {gate, add("Sigmoid", {gate})}), up});
    return sum(x, linear(qdq(gated, 0.06, 100), kHidden, kWidth));
  }

  Value* sum(Value* x, Value* y) {
    return add("Add", {qdq(x, kResidualScale, 128), qdq(y, kResidualScale, 128)});
  }

  std::mt19937 rng_;
  std::unique_ptr<ir::Graph> graph_;
};

class QuantizedTransformer : public testing::TestWithParam<passes::Precision> {};

TEST_P(QuantizedTransformer, StaysWithinOneStep) {
  std::int64_t elements = 0, off_by_more = 0, different = 0;
  double dot = 0, aa = 0, ee = 0;
  int integers = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto graph = Block(seed).make();
    passes::PassContext context;
    ASSERT_TRUE(passes::infer_shapes_pass().run(*graph, context).ok());
    std::mt19937 rng(seed);
    std::vector<std::int64_t> ids, positions;
    for (std::int64_t i = 0; i < kRows; ++i) {
      ids.push_back(static_cast<std::int64_t>(rng() % kWords));
      positions.push_back(i + 3);
    }
    const std::vector<Tensor> inputs = {from_int64s(DType::I64, {1, kRows}, ids),
                                        from_int64s(DType::I64, {1, kRows}, positions)};
    const auto expected = evaluate_reference(*graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.status().to_string();
    const auto actual = compile_and_run(*graph, {"Ascend910B3", GetParam()}, inputs);
    ASSERT_TRUE(actual.ok()) << actual.status().to_string();
    const auto a = to_doubles(actual->outputs[0]), e = to_doubles((*expected)[0]);
    ASSERT_EQ(a.size(), e.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      ++elements;
      off_by_more += std::abs(a[i] - e[i]) > 1 ? 1 : 0;
      different += a[i] != e[i] ? 1 : 0;
      dot += (a[i] - 128) * (e[i] - 128);
      aa += (a[i] - 128) * (a[i] - 128);
      ee += (e[i] - 128) * (e[i] - 128);
    }
    for (const auto& n : graph->nodes())
      integers += n->is_internal("MatMul") && n->input(0)->type.dtype == DType::I8 ? 1 : 0;
  }
  EXPECT_LE(static_cast<double>(off_by_more), 0.001 * static_cast<double>(elements));
  EXPECT_LE(static_cast<double>(different), 0.02 * static_cast<double>(elements));
  EXPECT_GE(dot / std::sqrt(aa * ee), 0.9999);
  EXPECT_GE(integers, 8 * 2 * 5);  // with a weight: at least queries, keys, values, output, down
}

INSTANTIATE_TEST_SUITE_P(, QuantizedTransformer,
                         testing::Values(passes::Precision::Origin, passes::Precision::Fp16),
                         [](const auto& tested) {
                           return tested.param == passes::Precision::Origin ? "Origin" : "Fp16";
                         });

}  // namespace
}  // namespace atc::runtime
