#pragma once

#include <string>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Why the product, which match_attention refuses, is no attention although its weights come from a softmax
/// of the product of two computed tensors; "" when it does not look like one.
std::string attention_near_miss(const ir::Node& product);

}  // namespace atc::passes
