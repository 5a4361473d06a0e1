#include "passes/finite_values.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr int kMaxNodes = 64;

// Each element of a result is an element of a floating input, or is bounded whatever the finite inputs are.
constexpr std::array<std::string_view, 32> kKeepFinite = {
    "Abs",     "Ceil",  "Clip",    "Concat",   "Cos",      "DepthToSpace", "Erf",       "Expand",
    "Flatten", "Floor", "Gather",  "GatherND", "Identity", "Max",          "Min",       "Neg",
    "Pad",     "Relu",  "Reshape", "Round",    "Sigmoid",  "Sign",         "Sin",       "Slice",
    "Softmax", "Split", "Squeeze", "Tanh",     "Tile",     "Transpose",    "Unsqueeze", "Where"};

bool holds_finite_elements(const Tensor& t) {
  const std::vector<double> values = to_doubles(t);
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool is_whole(DType t) { return is_integer(t) || t == DType::Bool; }

// A Cast to a floating type whose range holds all of the other's.
bool widens(DType from, DType to) {
  if (is_whole(from)) {
    // 2^64 is far inside the range of an 8-bit exponent; fp16 ends at 65504.
    if (to == DType::F32 || to == DType::F64 || to == DType::BF16) return true;
    return to == DType::F16 && (bit_width(from) <= 8 || from == DType::I16);
  }
  return is_float(from) && (from == to || to == DType::F64 || (to == DType::F32 && from != DType::F64));
}

class Search {
 public:
  bool is_finite(const Value* v) {
    if (v == nullptr || is_whole(v->type.dtype)) return true;
    if (v->is_constant()) return holds_finite_elements(v->constant());
    const Node* n = v->producer();
    if (n == nullptr || !n->domain.empty() || ++nodes_ > kMaxNodes) return false;
    if (n->is("Cast")) return widens(n->input(0)->type.dtype, v->type.dtype) && is_finite(n->input(0));
    if (std::find(kKeepFinite.begin(), kKeepFinite.end(), n->op_type) == kKeepFinite.end()) return false;
    return std::all_of(n->inputs().begin(), n->inputs().end(),
                       [&](const Value* input) { return is_finite(input); });
  }

 private:
  int nodes_ = 0;
};

}  // namespace

bool is_known_finite(const Value& value) { return Search().is_finite(&value); }

}  // namespace atc::passes
