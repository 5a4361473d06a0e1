#include "ops/random_stream.h"

#include <bit>
#include <cmath>
#include <utility>

namespace atc::ops {
namespace {

/// FNV-1a.
std::uint32_t hash_text(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace

double RandomStream::uniform() {
  const auto high = static_cast<double>(generator_() >> 5U);
  const auto low = static_cast<double>(generator_() >> 6U);
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double RandomStream::normal() {
  if (spare_) return *std::exchange(spare_, std::nullopt);
  double u = 0;
  double v = 0;
  double square = 0;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  const double scale = std::sqrt(-2 * std::log(square) / square);
  spare_ = scale * u;
  return scale * v;
}

bool draws_random_numbers(const ir::Node& node) {
  if (!node.domain.empty()) return false;
  if (node.op_type == "Dropout") return node.input(2) != nullptr;
  return node.op_type == "Bernoulli" || node.op_type == "Multinomial" ||
         node.op_type.starts_with("RandomNormal") || node.op_type.starts_with("RandomUniform");
}

std::uint32_t seed_of(const ir::Node& node) {
  const ir::Attribute* seed = node.attrs.find("seed");
  if (seed != nullptr) {
    if (const auto* integer = std::get_if<std::int64_t>(seed)) return static_cast<std::uint32_t>(*integer);
    if (const auto* real = std::get_if<float>(seed)) {
      const bool whole = *real >= 0 && *real < 4294967296.0F && *real == std::floor(*real);
      return whole ? static_cast<std::uint32_t>(*real) : std::bit_cast<std::uint32_t>(*real);
    }
  }
  const ir::Value* named = node.output(0);
  return hash_text(named != nullptr ? named->name() : std::string_view()) & 0xFFFFFFU;
}

}  // namespace atc::ops
