#include "atc_opp/unit_test.h"

static bool g_interleaved = false;

// Tables broadcast over batch and heads of [batch, heads, positions, width].
static bool Golden(const std::vector<atc_opp::Tensor>& inputs, std::vector<atc_opp::Tensor>& outputs) {
  const atc_opp::Tensor &x = inputs[0], &cos = inputs[1], &sin = inputs[2];
  const std::size_t width = x.dims[3], table = cos.data.size();
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    const std::size_t e = i % width, head = i - e, t = i % table;
    const std::size_t other = g_interleaved ? e ^ 1 : (e + width / 2) % width;
    const bool low = g_interleaved ? e % 2 == 0 : e < width / 2;
    outputs[0][i] = x[i] * cos[t] + (low ? -1 : 1) * x[head + other] * sin[t];
  }
  return true;
}

int main() {
  atc_opp::UnitTest test("RoPE", Golden);
  test.Run({{2, 4, 11, 64}, {11, 64}, {11, 64}});
  test.Run({{1, 3, 1, 32}, {1, 1, 1, 32}, {1, 1, 1, 32}});
  g_interleaved = true;
  test.Int("mode", 1);
  test.Run({{2, 4, 11, 64}, {11, 64}, {11, 64}});
  return test.Failures();
}
