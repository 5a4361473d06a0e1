#include "runtime/random_input.h"

#include <algorithm>
#include <vector>

namespace atc::runtime {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): one multiply-xorshift chain for each output.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  ///< [0, 1)

 private:
  std::uint64_t state_;
};

}  // namespace

Tensor random_tensor(const TensorSpec& spec, std::uint64_t seed, std::uint64_t input_number) {
  Random random(seed * 0x9e3779b97f4a7c15U + input_number);
  const std::size_t count = static_cast<std::size_t>(element_count(spec.shape));
  if (spec.dtype == DType::String) {
    Tensor t;
    t.dtype = spec.dtype;
    t.shape = spec.shape;
    t.strings.resize(count);
    return t;
  }
  if (spec.dtype == DType::F32) {  // the usual case, without a detour through double
    MutableTensor t(spec.dtype, spec.shape);
    // 24 bits: a float holds each value exactly, so that 1 is never reached by rounding.
    for (float& v : t.as<float>()) v = static_cast<float>(random.next() >> 40) * 0x1.0p-23F - 1.0F;
    return std::move(t).freeze();
  }
  if (spec.dtype == DType::C64 || spec.dtype == DType::C128) {
    MutableTensor t(spec.dtype, spec.shape);
    if (spec.dtype == DType::C64) {
      auto* p = reinterpret_cast<float*>(t.bytes().data());
      for (std::size_t i = 0; i < 2 * count; ++i)
        p[i] = static_cast<float>(random.next() >> 40) * 0x1.0p-23F - 1.0F;
    } else {
      auto* p = reinterpret_cast<double*>(t.bytes().data());
      for (std::size_t i = 0; i < 2 * count; ++i) p[i] = 2 * random.unit() - 1;
    }
    return std::move(t).freeze();
  }
  if (is_float(spec.dtype)) {
    std::vector<double> values(count);
    for (double& v : values) v = 2 * random.unit() - 1;
    return from_doubles(spec.dtype, spec.shape, values);
  }
  const int bits = spec.dtype == DType::Bool ? 1 : bit_width(spec.dtype) - (is_signed(spec.dtype) ? 1 : 0);
  const std::uint64_t range = bits >= 4 ? 10 : std::uint64_t{1} << bits;
  std::vector<std::int64_t> values(count);
  for (std::int64_t& v : values) v = static_cast<std::int64_t>(random.next() % range);
  return from_int64s(spec.dtype, spec.shape, values);
}

}  // namespace atc::runtime
