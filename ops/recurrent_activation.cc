#include "ops/recurrent_activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "ops/op.h"

namespace atc::ops {

namespace {

using kernels::RegType;
using kernels::VecOp;
using Kind = RecurrentActivation::Kind;

struct Named {
  std::string_view name;  ///< lower case
  Kind kind;
  std::optional<double> alpha = {};
  std::optional<double> beta = {};
};

constexpr Named kFunctions[] = {
    {"affine", Kind::Affine, 1.0, 0.0},
    {"elu", Kind::Elu, 1.0},
    {"hardsigmoid", Kind::HardSigmoid, 0.2, 0.5},
    {"leakyrelu", Kind::LeakyRelu, 0.01},
    {"relu", Kind::Relu},
    {"scaledtanh", Kind::ScaledTanh, 1.0, 1.0},
    {"sigmoid", Kind::Sigmoid},
    {"softplus", Kind::Softplus},
    {"softsign", Kind::Softsign},
    {"tanh", Kind::Tanh},
    {"thresholdedrelu", Kind::ThresholdedRelu, 1.0},
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

double RecurrentActivation::operator()(double x) const {
  if (clip_ > 0) x = std::clamp(x, -clip_, clip_);
  switch (kind_) {
    case Kind::Affine:
      return alpha_ * x + beta_;
    case Kind::Elu:
      return x < 0 ? alpha_ * std::expm1(x) : x;
    case Kind::HardSigmoid:
      return std::clamp(alpha_ * x + beta_, 0.0, 1.0);
    case Kind::LeakyRelu:
      return x < 0 ? alpha_ * x : x;
    case Kind::Relu:
      return std::max(x, 0.0);
    case Kind::ScaledTanh:
      return alpha_ * std::tanh(beta_ * x);
    case Kind::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::Softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case Kind::Softsign:
      return x / (1 + std::abs(x));
    case Kind::Tanh:
      return std::tanh(x);
    case Kind::ThresholdedRelu:
      return x > alpha_ ? x : 0.0;
  }
  return x;
}

int RecurrentActivation::emit(kernels::VectorProgram& p, int x) const {
  const auto c = [&](double v) { return p.constant(RegType::F32, v); };
  const auto op = [&](VecOp o, int a, int b = -1, int s = -1) { return p.emit(o, RegType::F32, a, b, s); };
  if (clip_ > 0) x = op(VecOp::Min, op(VecOp::Max, x, c(-clip_)), c(clip_));
  const auto scaled = [&](int v, double factor) { return factor == 1 ? v : op(VecOp::Mul, v, c(factor)); };
  switch (kind_) {
    case Kind::Affine:
      return op(VecOp::Add, scaled(x, alpha_), c(beta_));
    case Kind::Elu: {
      // e^v - 1 is 2t / (1 - t) with t = tanh(v / 2), exact near zero where e^v - 1 cancels.
      const int zero = c(0);
      const int t = op(VecOp::Tanh, op(VecOp::Mul, op(VecOp::Min, x, zero), c(0.5)));
      const int low = op(VecOp::Div, op(VecOp::Mul, c(2 * alpha_), t), op(VecOp::Sub, c(1), t));
      return op(VecOp::Select, low, x, op(VecOp::Less, x, zero));
    }
    case Kind::HardSigmoid:
      return op(VecOp::Max, c(0),
                op(VecOp::Min, c(1), op(VecOp::Add, op(VecOp::Mul, x, c(alpha_)), c(beta_))));
    case Kind::LeakyRelu:
      return op(VecOp::PRelu, x, c(alpha_));
    case Kind::Relu:
      return op(VecOp::Relu, x);
    case Kind::ScaledTanh:
      return scaled(op(VecOp::Tanh, scaled(x, beta_)), alpha_);
    case Kind::Sigmoid:
      return op(VecOp::Sigmoid, x);
    case Kind::Softplus:
      return op(VecOp::Softplus, x);
    case Kind::Softsign:
      return op(VecOp::Div, x, op(VecOp::Add, c(1), op(VecOp::Abs, x)));
    case Kind::Tanh:
      return op(VecOp::Tanh, x);
    case Kind::ThresholdedRelu:
      return op(VecOp::Select, x, c(0), op(VecOp::Greater, x, c(alpha_)));
  }
  return x;
}

StatusOr<std::vector<RecurrentActivation>> recurrent_activations(const ir::Node& node,
                                                                 const std::vector<std::string>& defaults,
                                                                 std::size_t directions) {
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
  const double clip = static_cast<double>(node.attrs.get_float("clip", 0.0F));
  std::size_t used_alphas = 0;
  std::size_t used_betas = 0;
  std::vector<RecurrentActivation> out;
  for (const std::string& name : names) {
    const Named* f = find_function(name);
    if (!f)
      return InferContext(node).error("attribute activations names \"" + name + "\", which does not exist");
    const double alpha = f->alpha ? next_value(alphas, used_alphas, *f->alpha) : 0;
    const double beta = f->beta ? next_value(betas, used_betas, *f->beta) : 0;
    out.emplace_back(f->kind, alpha, beta, clip);
  }
  return out;
}

}  // namespace atc::ops
