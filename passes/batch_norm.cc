#include "passes/batch_norm.h"

#include <cmath>

#include "ops/batch_norm.h"

namespace atc::passes {

std::optional<ChannelAffine> batch_norm_affine(const ir::Node& node) {
  if (!node.is("BatchNormalization") || ops::is_training_batch_norm(node)) return std::nullopt;
  if (ops::is_per_activation_batch_norm(node)) return std::nullopt;
  for (std::size_t i = 1; i < 5; ++i)
    if (node.input(i) == nullptr || !node.input(i)->is_constant()) return std::nullopt;
  const auto scale = to_doubles(node.input(1)->constant()), shift = to_doubles(node.input(2)->constant()),
             mean = to_doubles(node.input(3)->constant()), variance = to_doubles(node.input(4)->constant());
  const double epsilon = node.attrs.get_float("epsilon", 1e-5F);
  ChannelAffine affine;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    affine.scale.push_back(scale[i] / std::sqrt(variance[i] + epsilon));
    affine.shift.push_back(shift[i] - mean[i] * affine.scale[i]);
  }
  return affine;
}

}  // namespace atc::passes
