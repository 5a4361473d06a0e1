#include "passes/structure.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "atc/base/hash.h"

namespace atc::passes {
namespace {

template <class T>
std::uint64_t hash_raw(std::span<const T> values, std::uint64_t seed) {
  return hash64(std::as_bytes(values), seed);
}
std::uint64_t mix(std::uint64_t value, std::uint64_t seed) {
  return hash_raw(std::span<const std::uint64_t>(&value, 1), seed);
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

struct AttributeHash {
  std::uint64_t seed;
  std::uint64_t operator()(std::int64_t v) const { return mix(static_cast<std::uint64_t>(v), seed); }
  std::uint64_t operator()(float v) const { return hash_raw(std::span<const float>(&v, 1), seed); }
  std::uint64_t operator()(const std::string& v) const { return hash64(std::string_view(v), seed); }
  std::uint64_t operator()(const std::vector<std::int64_t>& v) const { return hash_raw(std::span(v), seed); }
  std::uint64_t operator()(const std::vector<float>& v) const { return hash_raw(std::span(v), seed); }
  std::uint64_t operator()(const std::vector<std::string>& v) const {
    std::uint64_t h = mix(v.size(), seed);
    for (const std::string& s : v) h = hash64(std::string_view(s), h);
    return h;
  }
  std::uint64_t operator()(const Tensor& v) const { return hash(v, seed); }
  std::uint64_t operator()(const std::vector<Tensor>& v) const {
    std::uint64_t h = mix(v.size(), seed);
    for (const Tensor& t : v) h = hash(t, h);
    return h;
  }
  // By name only: an address would not be the same from run to run.
  std::uint64_t operator()(const std::shared_ptr<ir::Graph>& v) const {
    return v == nullptr ? seed : hash64(std::string_view(v->name), seed);
  }
};

struct AttributeSame {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  bool operator()(float a, float b) const { return same_bits({&a, 1}, {&b, 1}); }
  bool operator()(const std::vector<float>& a, const std::vector<float>& b) const { return same_bits(a, b); }
  bool operator()(const Tensor& a, const Tensor& b) const { return same(a, b); }
  bool operator()(const std::vector<Tensor>& a, const std::vector<Tensor>& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Tensor& x, const Tensor& y) { return same(x, y); });
  }
  template <class T, class U>
  bool operator()(const T&, const U&) const {
    return false;
  }
};

}  // namespace

std::uint64_t hash(const Tensor& t, std::uint64_t seed) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(t.dtype), seed);
  h = hash_raw(std::span<const std::int64_t>(t.shape), h);
  // Of large tensors samples will do: whoever finds equal hashes compares.
  constexpr std::size_t kSample = 4096, kSamples = 16;
  const std::span<const std::byte> bytes = t.data.span();
  if (bytes.size() <= kSample * kSamples) {
    h = hash64(bytes, h);
  } else {
    const std::size_t step = (bytes.size() - kSample) / (kSamples - 1);
    for (std::size_t i = 0; i < kSamples; ++i) h = hash64(bytes.subspan(i * step, kSample), h);
  }
  for (const std::string& s : t.strings) h = hash64(std::string_view(s), h);
  return h;
}

bool same(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.strings != b.strings || a.data.size() != b.data.size())
    return false;
  return a.data.data() == b.data.data() || a.data.empty() ||
         std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0;
}

std::uint64_t hash(const ir::Attributes& attrs, std::uint64_t seed) {
  std::uint64_t h = seed;
  for (const auto& [key, value] : attrs.map()) {
    h = hash64(std::string_view(key), h);
    h = std::visit(AttributeHash{mix(value.index(), h)}, value);
  }
  return h;
}

bool same(const ir::Attributes& a, const ir::Attributes& b) {
  return std::equal(a.map().begin(), a.map().end(), b.map().begin(), b.map().end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && std::visit(AttributeSame{}, x.second, y.second);
                    });
}

namespace {

// Both orders of the operands give the same bits. Max and Min do not: of 0 and -0 they return either.
bool commutes(const ir::Node& n) {
  constexpr std::array<std::string_view, 9> kOperators = {
      "Add", "And", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Mul", "Or", "Xor"};
  return n.domain.empty() && n.inputs().size() == 2 && n.input(0) != nullptr && n.input(1) != nullptr &&
         !n.attrs.has("axis") &&
         std::ranges::find(kOperators, std::string_view(n.op_type)) != kOperators.end();
}

// Of a node whose operands commute, in one order.
std::vector<const ir::Value*> ordered_inputs(const ir::Node& n) {
  std::vector<const ir::Value*> out(n.inputs().begin(), n.inputs().end());
  if (commutes(n) && out[1]->id() < out[0]->id()) std::swap(out[0], out[1]);
  return out;
}

}  // namespace

std::uint64_t hash(const ir::Node& node) {
  std::uint64_t h = hash64(std::string_view(node.domain), static_cast<std::uint64_t>(node.version));
  h = hash64(std::string_view(node.op_type), h);
  for (const ir::Value* v : ordered_inputs(node))
    h = mix(v == nullptr ? ~std::uint64_t{0} : static_cast<std::uint64_t>(v->id()), h);
  return hash(node.attrs, mix(node.outputs().size(), h));
}

bool same(const ir::Node& a, const ir::Node& b) {
  if (a.op_type != b.op_type || a.domain != b.domain || a.version != b.version) return false;
  if (ordered_inputs(a) != ordered_inputs(b)) return false;
  const auto same_output = [](const ir::Value* x, const ir::Value* y) {
    return (x == nullptr) == (y == nullptr) && (x == nullptr || x->type == y->type);
  };
  if (!std::equal(a.outputs().begin(), a.outputs().end(), b.outputs().begin(), b.outputs().end(),
                  same_output))
    return false;
  return same(a.attrs, b.attrs);
}

}  // namespace atc::passes
