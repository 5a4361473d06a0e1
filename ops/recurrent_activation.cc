#include "ops/recurrent_activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "ops/op.h"

namespace atc::ops {

namespace {

struct Named {
  std::string_view name;  ///< lower case
  std::optional<double> alpha;
  std::optional<double> beta;
  double (*apply)(double x, double alpha, double beta);
};

constexpr Named kFunctions[] = {
    {"affine", 1.0, 0.0, [](double x, double a, double b) { return a * x + b; }},
    {"elu", 1.0, {}, [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }},
    {"hardsigmoid", 0.2, 0.5, [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }},
    {"leakyrelu", 0.01, {}, [](double x, double a, double) { return x < 0 ? a * x : x; }},
    {"relu", {}, {}, [](double x, double, double) { return std::max(x, 0.0); }},
    {"scaledtanh", 1.0, 1.0, [](double x, double a, double b) { return a * std::tanh(b * x); }},
    {"sigmoid", {}, {}, [](double x, double, double) { return 1 / (1 + std::exp(-x)); }},
    {"softplus",
     {},
     {},
     [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
    {"softsign", {}, {}, [](double x, double, double) { return x / (1 + std::abs(x)); }},
    {"tanh", {}, {}, [](double x, double, double) { return std::tanh(x); }},
    {"thresholdedrelu", 1.0, {}, [](double x, double a, double) { return x > a ? x : 0.0; }},
};

/// Names are matched without regard to case, as runtimes do.
const Named* find_function(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Named& f) { return f.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

/// Takes the next value of a list, or the function's default.
double next_value(const std::vector<float>& values, std::size_t& used, double fallback) {
  return used < values.size() ? static_cast<double>(values[used++]) : fallback;
}

}  // namespace

StatusOr<std::vector<std::function<double(double)>>> recurrent_activations(
    const ir::Node& node, const std::vector<std::string>& defaults, std::size_t directions) {
  const std::size_t expected = defaults.size() * directions;
  std::vector<std::string> names;
  if (const ir::Attribute* given = node.attrs.find("activations"))
    if (const auto* list = std::get_if<std::vector<std::string>>(given)) names = *list;
  if (names.empty())
    for (std::size_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != expected)
    return InferContext(node).error("attribute activations has " + std::to_string(names.size()) +
                                    " names, expected " + std::to_string(expected));
  const std::vector<float> alphas = node.attrs.get_floats("activation_alpha");
  const std::vector<float> betas = node.attrs.get_floats("activation_beta");
  const double clip = node.attrs.get_float("clip", 0.0F);
  std::size_t used_alphas = 0;
  std::size_t used_betas = 0;
  std::vector<std::function<double(double)>> out;
  for (const std::string& name : names) {
    const Named* f = find_function(name);
    if (!f)
      return InferContext(node).error("attribute activations names \"" + name + "\", which does not exist");
    const double alpha = f->alpha ? next_value(alphas, used_alphas, *f->alpha) : 0;
    const double beta = f->beta ? next_value(betas, used_betas, *f->beta) : 0;
    out.emplace_back([=, apply = f->apply](double x) {
      return apply(clip > 0 ? std::clamp(x, -clip, clip) : x, alpha, beta);
    });
  }
  return out;
}

}  // namespace atc::ops
