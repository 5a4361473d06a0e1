#include "atc/ir/attribute.h"

namespace atc::ir {
namespace {

template <class T>
const T* get(const Attributes& attrs, std::string_view name) {
  const Attribute* a = attrs.find(name);
  return a == nullptr ? nullptr : std::get_if<T>(a);
}

}  // namespace

const Attribute* Attributes::find(std::string_view name) const {
  const auto it = map_.find(name);
  return it == map_.end() ? nullptr : &it->second;
}

void Attributes::erase(std::string_view name) {
  const auto it = map_.find(name);
  if (it != map_.end()) map_.erase(it);
}

std::int64_t Attributes::get_int(std::string_view name, std::int64_t fallback) const {
  const auto* v = get<std::int64_t>(*this, name);
  return v == nullptr ? fallback : *v;
}

float Attributes::get_float(std::string_view name, float fallback) const {
  const auto* v = get<float>(*this, name);
  return v == nullptr ? fallback : *v;
}

std::string Attributes::get_string(std::string_view name, std::string_view fallback) const {
  const auto* v = get<std::string>(*this, name);
  return v == nullptr ? std::string(fallback) : *v;
}

std::vector<std::int64_t> Attributes::get_ints(std::string_view name,
                                               std::vector<std::int64_t> fallback) const {
  const auto* v = get<std::vector<std::int64_t>>(*this, name);
  return v == nullptr ? std::move(fallback) : *v;
}

std::vector<float> Attributes::get_floats(std::string_view name, std::vector<float> fallback) const {
  const auto* v = get<std::vector<float>>(*this, name);
  return v == nullptr ? std::move(fallback) : *v;
}

const Tensor* Attributes::get_tensor(std::string_view name) const { return get<Tensor>(*this, name); }

std::shared_ptr<Graph> Attributes::get_graph(std::string_view name) const {
  const auto* v = get<std::shared_ptr<Graph>>(*this, name);
  return v == nullptr ? nullptr : *v;
}

}  // namespace atc::ir
