#include "atc_opp/unit_test.h"

static bool Golden(const std::vector<atc_opp::Tensor>& inputs, std::vector<atc_opp::Tensor>& outputs) {
  const atc_opp::Tensor &x = inputs[0], &gamma = inputs[1], &beta = inputs[2];
  const std::size_t width = gamma.data.size();
  for (std::size_t r = 0; r < x.data.size() / width; ++r) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < width; ++i) mean += x[r * width + i] / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) variance += std::pow(x[r * width + i] - mean, 2) / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
      outputs[0][r * width + i] = (x[r * width + i] - mean) / std::sqrt(variance + 1e-5) * gamma[i] + beta[i];
  }
  return true;
}

int main() {
  int failures = 0;
  for (const char* type : {"LayerNorm", "LayerNormSingle"}) {
    atc_opp::UnitTest test(type, Golden);
    test.Run({{400, 768}, {768}, {768}});
    test.Run({{3, 7, 77}, {77}, {77}});  // rows that are no multiple of 32 bytes
    failures += test.Failures();
  }
  return failures;
}
