#include "atc_opp/unit_test.h"

// Over axis 1 of three.
static bool Golden(const std::vector<atc_opp::Tensor>& inputs, std::vector<atc_opp::Tensor>& outputs) {
  const atc_opp::Tensor &scores = inputs[0], &x = inputs[1];
  const std::size_t outer = x.dims[0], length = x.dims[1], inner = x.dims[2], own = scores.dims[2];
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      double sum = 0, weighed = 0;
      for (std::size_t t = 0; t < length; ++t) {
        const double e = std::exp(scores[(o * length + t) * own + i % own]);
        sum += e;
        weighed += e * x[(o * length + t) * inner + i];
      }
      outputs[0][o * inner + i] = weighed / sum;
    }
  return true;
}

int main() {
  atc_opp::UnitTest test("SoftmaxMulReduceSum", Golden);
  test.Int("axis", 1);
  test.Run({{3, 37, 1}, {3, 37, 100}});      // a score for each row
  test.Run({{2, 5, 3001}, {2, 5, 3001}});    // one for each element, two tiles with a tail
  test.Run({{50, 130, 1}, {50, 130, 1}});    // rows of one element
  return test.Failures();
}
