#pragma once

#include <cstdint>

#include "atc/ir/graph.h"

/// Structural identity of nodes, attributes and tensors: bit for bit, names apart.
namespace atc::passes {

std::uint64_t hash(const Tensor& t, std::uint64_t seed = 0);
bool same(const Tensor& a, const Tensor& b);

/// Nested graphs are the same only as the same object.
std::uint64_t hash(const ir::Attributes& attrs, std::uint64_t seed = 0);
bool same(const ir::Attributes& a, const ir::Attributes& b);

/// Operator, version, attributes, input values (of commutative operators in either order), and which outputs
/// exist with what types.
std::uint64_t hash(const ir::Node& node);
bool same(const ir::Node& a, const ir::Node& b);

}  // namespace atc::passes
