#include "passes/attention_mask.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/op.h"
#include "ops/reference_util.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;
using Kind = kernels::AttentionMask::Kind;

constexpr std::size_t kMask = 3, kNonpad = 6;  // inputs
constexpr double kHidden = -std::numeric_limits<double>::infinity();

Dims aligned(Dims dims, std::size_t rank) {
  dims.insert(dims.begin(), rank - std::min(rank, dims.size()), 1);
  return dims;
}

Value* combine(NodeWriter& w, const char* type, std::vector<Value*> inputs, DType dtype,
               const std::string& suffix) {
  ir::Shape shape = *inputs[0]->type.shape;
  for (const Value* v : inputs) shape = *ops::broadcast(shape, *v->type.shape);
  return w.insert(type, std::move(inputs), {dtype, shape}, suffix)->output(0);
}

// first, first + 1, ... along an axis.
Value* steps(NodeWriter& w, std::int64_t first, const Dims& dims, const std::string& suffix) {
  Dims values(static_cast<std::size_t>(element_count(dims)));
  std::iota(values.begin(), values.end(), first);
  return w.reshape(w.int64s(values, suffix), dims, suffix + "_axis");
}

Value* positions_below(NodeWriter& w, Value* limit, const Dims& scores, const std::string& suffix) {
  Value* positions = steps(w, 0, {1, 1, 1, scores[3]}, suffix + "_positions");
  return combine(w, "Less", {positions, limit}, DType::Bool, suffix);
}

// True where a position is before the end of its batch's cache, and where `causal` not behind the row.
Value* inside_cache(NodeWriter& w, Value* lengths, bool causal, const Dims& scores) {
  Value* limit = w.reshape(lengths, {scores[0], 1, 1, 1}, "cache_lengths");
  if (causal)
    limit = combine(w, "Add", {limit, steps(w, 1 - scores[2], {1, 1, scores[2], 1}, "rows")}, DType::I64,
                    "row_limits");
  return positions_below(w, limit, scores, "inside_cache");
}

}  // namespace

bool mask_fits(const Node& n, const Dims& scores) {
  const Value* mask = n.input(kMask);
  if (mask == nullptr) return true;
  const Dims dims = aligned(mask->type.dims(), scores.size());
  if (dims.size() != scores.size() || dims[3] > scores[3]) return false;
  for (std::size_t i = 0; i < 3; ++i)
    if (dims[i] != scores[i] && dims[i] != 1) return false;
  return true;
}

std::int64_t masked_positions(const Node& n, std::int64_t positions) {
  const Value* mask = n.input(kMask);
  const std::int64_t width = mask == nullptr ? 1 : aligned(mask->type.dims(), 1).back();
  return width == 1 ? positions : std::min(width, positions);
}

OnnxMask write_mask(NodeWriter& w, Node& n, const Dims& scores) {
  OnnxMask out{n.input(kMask), n.attrs.get_int("is_causal", 0) != 0};
  if (n.input(kNonpad) == nullptr) return out;
  Value* inside = inside_cache(w, n.input(kNonpad), out.causal, scores);
  out.causal = false;
  if (out.value == nullptr) {
    out.value = inside;
  } else if (out.value->type.dtype == DType::Bool) {
    out.value = combine(w, "And", {inside, out.value}, DType::Bool, "mask");
  } else {
    const DType dtype = out.value->type.dtype;
    out.value = combine(w, "Where", {inside, out.value, w.scalar(kHidden, dtype, "hidden")}, dtype, "mask");
  }
  return out;
}

Value* causal_edge(NodeWriter& w, const Dims& scores, std::int64_t offset) {
  return positions_below(w, steps(w, offset + 1, {1, 1, scores[2], 1}, "edge_rows"), scores, "causal_edge");
}

kernels::AttentionMask mask_address(const OnnxMask& mask, const Dims& scores) {
  if (mask.value == nullptr) return {};
  const Dims s = ops::strides_over(aligned(mask.value->type.dims(), scores.size()), scores);
  const Kind kind = mask.value->type.dtype == DType::Bool ? Kind::Keep : Kind::Add;
  return {kind, 0, s[0], s[1], s[2], s[3], kHidden};
}

}  // namespace atc::passes
