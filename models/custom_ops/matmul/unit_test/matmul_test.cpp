#include "atc_opp/unit_test.h"

static bool Golden(const std::vector<atc_opp::Tensor>& inputs, std::vector<atc_opp::Tensor>& outputs) {
  const atc_opp::Tensor &a = inputs[0], &b = inputs[1];
  const std::size_t k = b.dims[0], n = b.dims[1], m = a.data.size() / k;
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t l = 0; l < k; ++l)
      for (std::size_t j = 0; j < n; ++j) outputs[0][i * n + j] += a[i * k + l] * b[l * n + j];
  return true;
}

int main() {
  atc_opp::UnitTest test("MatmulCustom", Golden);
  test.Run({{128, 256}, {256, 128}});
  test.Run({{1, 100, 200}, {200, 150}});  // tails in every direction
  test.Run({{5, 7}, {7, 3}});
  return test.Failures();
}
