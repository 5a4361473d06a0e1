#include <cmath>

#include "ops/node_case.h"

// Operators that carry a state from call to call: CausalConvWithState, LinearAttention.
namespace atc::ops {
namespace {

using ::testing::HasSubstr;

/// Steps [from, to) of a tensor [batch, a, b] along axis `axis`.
Tensor steps(const Tensor& t, std::size_t axis, std::int64_t from, std::int64_t to) {
  NodeCase c("Slice", 13);
  c.data(t)
      .constant(i64({1}, {from}))
      .constant(i64({1}, {to}))
      .constant(i64({1}, {static_cast<std::int64_t>(axis)}));
  return c.run_one();
}

TEST(CausalConvWithState, IsADepthwiseConvOfThePaddedInput) {
  const Tensor x = noise_tensor({2, 3, 6}, 1);
  const Tensor w = noise_tensor({3, 1, 4}, 2);
  const Tensor bias = noise_tensor({3}, 3);
  NodeCase conv("Conv", 22);
  conv.data(x).data(w).data(bias).ints("pads", {3, 0}).attr("group", 3);
  NodeCase c("CausalConvWithState", 27, 2);
  const auto y = c.data(x).data(w).data(bias).run();
  expect_near(y.at(0), {2, 3, 6}, to_doubles(conv.run_one()));
  expect_near(y.at(1), {2, 3, 3}, to_doubles(steps(x, 2, 3, 6)));
}

TEST(CausalConvWithState, TwoCallsAreOne) {
  const Tensor x = noise_tensor({1, 2, 7}, 4);
  const Tensor w = noise_tensor({2, 1, 4}, 5);
  const auto run = [&](const Tensor& part, const Tensor* past) {
    NodeCase c("CausalConvWithState", 27, 2);
    c.data(part).data(w).absent();
    if (past != nullptr) c.data(*past);
    return c.attr("activation", "silu").run();
  };
  const auto whole = run(x, nullptr);
  const auto first = run(steps(x, 2, 0, 2), nullptr);
  const auto second = run(steps(x, 2, 2, 7), &first.at(1));
  expect_near(first.at(0), {1, 2, 2}, to_doubles(steps(whole.at(0), 2, 0, 2)));
  expect_near(second.at(0), {1, 2, 5}, to_doubles(steps(whole.at(0), 2, 2, 7)));
  expect_near(second.at(1), {1, 2, 3}, to_doubles(whole.at(1)));
  NodeCase plain("CausalConvWithState", 27, 2);
  const auto linear = to_doubles(plain.data(x).data(w).run().at(0));
  const auto gated = to_doubles(whole.at(0));
  for (std::size_t i = 0; i < gated.size(); ++i)
    EXPECT_NEAR(gated[i], linear[i] * (0.5 + 0.5 * std::tanh(linear[i] / 2)), 1e-5);
}

TEST(CausalConvWithState, InfersAndRefuses) {
  NodeCase c("CausalConvWithState", 27, 2);
  c.typed(DType::F16, Dims{2, 4, 8}).typed(DType::F16, Dims{4, 1, 1});
  EXPECT_EQ(c.inferred(0), "f16[2,4,8]");
  EXPECT_EQ(c.inferred(1), "f16[2,4,0]");
  NodeCase channels("CausalConvWithState", 27);
  EXPECT_THAT(channels.typed(DType::F16, Dims{2, 4, 8}).typed(DType::F16, Dims{3, 1, 2}).inferred(),
              HasSubstr("must have shape [4,1,k]"));
  NodeCase activation("CausalConvWithState", 27);
  activation.typed(DType::F16, Dims{2, 4, 8}).typed(DType::F16, Dims{4, 1, 2}).attr("activation", "relu");
  EXPECT_THAT(activation.inferred(), HasSubstr("expected none, silu or swish"));
  NodeCase past("CausalConvWithState", 27);
  past.typed(DType::F16, Dims{2, 4, 8})
      .typed(DType::F16, Dims{4, 1, 3})
      .absent()
      .typed(DType::F16, Dims{2, 4, 3});
  EXPECT_THAT(past.inferred(), HasSubstr("must have shape [2,4,2]"));
}

// Batch 1, 3 steps, 4 query heads on 2 key/value heads, d_k 3, d_v 2.
constexpr std::size_t kSteps = 3, kHeads = 2, kDk = 3, kDv = 2;

struct Streams {
  Tensor query = noise_tensor({1, 3, 12}, 1), key = noise_tensor({1, 3, 6}, 2),
         value = noise_tensor({1, 3, 4}, 3);
  Tensor decay = noise_tensor({1, 3, 6}, 4), beta = noise_tensor({1, 3, 2}, 5);
};

class LinearAttentionCase : public NodeCase {
 public:
  explicit LinearAttentionCase(const char* rule) : NodeCase("LinearAttention", 27, 2) {
    attr("q_num_heads", 4).attr("kv_num_heads", 2).attr("update_rule", rule);
  }
};

/// linear and gated without a state: o_t = scale * sum over s <= t of (q_t . decayed k_s) v_s.
std::vector<double> by_pairs(const Streams& s, bool gated, double scale) {
  const auto q = to_doubles(s.query), k = to_doubles(s.key), v = to_doubles(s.value), g = to_doubles(s.decay);
  std::vector<double> y;
  for (std::size_t t = 0; t < kSteps; ++t)
    for (std::size_t head = 0; head < 4; ++head)
      for (std::size_t j = 0; j < kDv; ++j) {
        const std::size_t kv = head / 2;
        double sum = 0;
        for (std::size_t from = 0; from <= t; ++from)
          for (std::size_t i = 0; i < kDk; ++i) {
            double log_decay = 0;
            for (std::size_t u = from + 1; gated && u <= t; ++u) log_decay += g[(u * kHeads + kv) * kDk + i];
            sum += q[(t * 4 + head) * kDk + i] * std::exp(log_decay) * k[(from * kHeads + kv) * kDk + i] *
                   v[(from * kHeads + kv) * kDv + j];
          }
        y.push_back(scale * sum);
      }
  return y;
}

TEST(LinearAttention, LinearAndGatedAreSumsOverPairs) {
  const Streams s;
  LinearAttentionCase linear("linear");
  expect_near(linear.data(s.query).data(s.key).data(s.value).run().at(0), {1, 3, 8},
              by_pairs(s, false, 1 / std::sqrt(3.0)), 1e-4);
  LinearAttentionCase gated("gated");
  gated.data(s.query).data(s.key).data(s.value).absent().data(s.decay).attr("scale", 0.5F);
  expect_near(gated.run().at(0), {1, 3, 8}, by_pairs(s, true, 0.5), 1e-4);
}

TEST(LinearAttention, DeltaWithUnitKeysOverwrites) {
  // A unit key and step size 1: the state answers each key with the value written last.
  LinearAttentionCase c("delta");
  c.data(f32({1, 3, 12}, std::vector<double>(36, 1)))
      .data(f32({1, 3, 6}, {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0}));
  c.data(f32({1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})).absent().absent();
  c.data(f32({1, 3, 1}, {1, 1, 1}));
  const auto y = c.run();
  // Head 0: key 0 = (5, 6), key 1 = (9, 10). Head 1: key 1 = (11, 12), key 2 = (7, 8).
  expect_near(y.at(1), {1, 2, 3, 2}, {5, 6, 9, 10, 0, 0, 0, 0, 11, 12, 7, 8});
}

TEST(LinearAttention, TwoCallsAreOne) {
  const Streams s;
  const auto run = [&](std::int64_t from, std::int64_t to, const Tensor* past) {
    LinearAttentionCase c("gated_delta");
    c.data(steps(s.query, 1, from, to)).data(steps(s.key, 1, from, to)).data(steps(s.value, 1, from, to));
    if (past != nullptr)
      c.data(*past);
    else
      c.absent();
    return c.data(steps(s.decay, 1, from, to)).data(steps(s.beta, 1, from, to)).run();
  };
  const auto whole = run(0, 3, nullptr);
  const auto first = run(0, 2, nullptr);
  const auto second = run(2, 3, &first.at(1));
  expect_near(second.at(0), {1, 1, 8}, to_doubles(steps(whole.at(0), 1, 2, 3)), 1e-3);
  expect_near(second.at(1), {1, 2, 3, 2}, to_doubles(whole.at(1)), 1e-3);
}

TEST(LinearAttention, InfersAndRefuses) {
  LinearAttentionCase c("gated_delta");
  c.typed(DType::F16, Dims{2, 4, 64}).typed(DType::F16, Dims{2, 4, 32}).typed(DType::F16, Dims{2, 4, 10});
  c.typed(DType::F32, Dims{2, 2, 16, 5}).typed(DType::F16, Dims{2, 4, 2}).typed(DType::F16, Dims{2, 4, 1});
  EXPECT_EQ(c.inferred(0), "f16[2,4,20]");
  EXPECT_EQ(c.inferred(1), "f32[2,2,16,5]");
  LinearAttentionCase beta("delta");
  beta.typed(DType::F32, Dims{2, 4, 64}).typed(DType::F32, Dims{2, 4, 32}).typed(DType::F32, Dims{2, 4, 10});
  EXPECT_THAT(beta.inferred(), HasSubstr("update_rule delta needs input 5, beta"));
  LinearAttentionCase rule("square");
  rule.typed(DType::F32, Dims{2, 4, 64}).typed(DType::F32, Dims{2, 4, 32}).typed(DType::F32, Dims{2, 4, 10});
  EXPECT_THAT(rule.inferred(), HasSubstr("expected linear, gated, delta or gated_delta"));
  LinearAttentionCase sizes("linear");
  sizes.typed(DType::F32, Dims{2, 4, 64}).typed(DType::F32, Dims{2, 4, 30}).typed(DType::F32, Dims{2, 4, 10});
  EXPECT_THAT(sizes.inferred(), HasSubstr("has heads of 15 elements, the query of 16"));
}

}  // namespace
}  // namespace atc::ops
