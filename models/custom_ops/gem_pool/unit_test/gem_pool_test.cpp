#include "atc_opp/unit_test.h"

static double g_p = 3, g_epsilon = 1e-6;

static bool Golden(const std::vector<atc_opp::Tensor>& inputs, std::vector<atc_opp::Tensor>& outputs) {
  const std::size_t planes = outputs[0].data.size(), area = inputs[0].data.size() / planes;
  for (std::size_t i = 0; i < planes; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < area; ++k) sum += std::pow(std::max(inputs[0][i * area + k], g_epsilon), g_p);
    outputs[0][i] = std::pow(sum / static_cast<double>(area), 1 / g_p);
  }
  return true;
}

int main() {
  atc_opp::UnitTest test("GemPool", Golden);
  test.Tolerance(2e-3);  // powers by logarithms
  test.Run({{2, 19, 21, 13}});
  test.Run({{1, 3, 70, 70}});  // more than a tile, no multiple of 8
  g_p = 5;
  test.Float("p", 5).Range(0.25, 1);
  test.Run({{1, 1, 1, 1}});
  test.Run({{1, 40, 8, 8}});
  return test.Failures();
}
