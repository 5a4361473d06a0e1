#include "atc/ir/shape.h"

#include <algorithm>

#include "atc/base/check.h"

namespace atc::ir {

Shape to_shape(const Dims& dims) {
  Shape shape;
  shape.reserve(dims.size());
  for (std::int64_t d : dims) shape.push_back(Dim::of(d));
  return shape;
}

bool is_static(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.known(); });
}

Dims to_dims(const Shape& shape) {
  ATC_CHECK(is_static(shape), "to_dims: shape [" + to_string(shape) + "] is not static");
  Dims dims;
  dims.reserve(shape.size());
  for (const Dim& d : shape) dims.push_back(d.value);
  return dims;
}

std::string to_string(const Shape& shape) {
  std::string out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != 0) out += ',';
    const Dim& d = shape[i];
    if (d.known())
      out += std::to_string(d.value);
    else
      out += d.symbol.empty() ? "?" : d.symbol;
  }
  return out;
}

}  // namespace atc::ir
