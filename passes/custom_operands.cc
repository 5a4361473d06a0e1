#include "passes/custom_operands.h"

#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

/// Strides of axes of length 1 do not matter.
bool is_same(const StridedView& a, const StridedView& b) {
  if (a.base != b.base || a.offset != b.offset || a.dims != b.dims) return false;
  for (std::size_t i = 0; i < a.dims.size(); ++i)
    if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

}  // namespace

bool spans(const Dims& dims, const Dims& of, std::int64_t width) {
  if (dims.empty() || dims.size() > of.size() || dims.back() != width) return false;
  const std::size_t missing = of.size() - dims.size();
  for (std::size_t i = 0; i + 1 < dims.size(); ++i)
    if (dims[i] != 1 && dims[i] != of[i + missing]) return false;
  return true;
}

Value* CustomOperands::whole(Node& n, Value* low, const StridedView& view, bool interleaved,
                             const Dims& dims) {
  StridedView wanted = view;
  if (wanted.dims.size() != dims.size()) return nullptr;
  wanted.dims = dims;
  if (interleaved) wanted.strides.back() /= 2;
  Value* found = nullptr;
  for (Value* v = low; v != view.base;) {
    const Node* maker = v->producer();
    if (maker == nullptr || !has_static_shapes(*maker)) break;
    v = maker->input(0);
    if (element_count(v->type.dims()) != element_count(dims)) continue;
    const auto seen = reshaped(trace_view(v), dims);
    if (!seen || !is_same(*seen, wanted)) continue;
    if (v->type.dims() == dims) return v;
    found = v;
  }
  return found == nullptr ? nullptr : NodeWriter(graph_, n).reshape(found, dims, "whole");
}

Value* CustomOperands::join(Node& n, Value* low, Value* high, bool interleaved, const std::string& suffix) {
  NodeWriter w(graph_, n);
  Dims dims = low->type.dims(), stacked = dims, joined = dims;
  joined.back() *= 2;
  if (interleaved) {
    dims.push_back(1);
    stacked.push_back(2);
    low = w.reshape(low, dims, suffix + "_even");
    high = w.reshape(high, dims, suffix + "_odd");
  } else {
    stacked = joined;
  }
  Node* concat = w.insert("Concat", {low, high}, ir::tensor_type(low->type.dtype, stacked), suffix);
  concat->attrs.set("axis", std::int64_t{-1});
  return w.reshape(concat->output(0), joined, suffix + "_joined");
}

Value* CustomOperands::twice(Node& n, Value* table, bool interleaved) {
  Value*& known = tables_[{table->id(), interleaved}];
  if (known == nullptr) known = join(n, table, table, interleaved, "table");
  return known;
}

}  // namespace atc::passes
