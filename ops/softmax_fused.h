#pragma once

namespace atc::ops {

class Registry;

/// atc::ScaledMaskedSoftmax and atc::SoftmaxWeightedSum, which belong to Softmax's family.
void register_softmax_fused(Registry& registry);

}  // namespace atc::ops
