#include "passes/decompose_rotary.h"

#include "passes/node_writer.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// Elements first, first + step, ... below `last` of the last axis.
Value* elements(NodeWriter& w, Value* x, std::int64_t first, std::int64_t last, std::int64_t step,
                const std::string& suffix) {
  Dims dims = x->type.dims();
  dims.back() = (last - first + step - 1) / step;
  return w
      .insert("Slice",
              {x, w.int64s({first}, suffix + "_first"), w.int64s({last}, suffix + "_last"),
               w.int64s({std::ssize(dims) - 1}, suffix + "_axis"), w.int64s({step}, suffix + "_step")},
              ir::tensor_type(x->type.dtype, dims), suffix)
      ->output(0);
}

Value* joined(NodeWriter& w, Value* a, Value* b, const std::string& suffix) {
  Dims dims = a->type.dims();
  dims.back() += b->type.dims().back();
  Node* n = w.insert("Concat", {a, b}, ir::tensor_type(a->type.dtype, dims), suffix);
  n->attrs.set("axis", std::ssize(dims) - 1);
  return n->output(0);
}

// [..., h] twice to [..., 2h] with neighbours from each.
Value* interleaved(NodeWriter& w, Value* a, Value* b) {
  Dims dims = a->type.dims(), column = dims;
  column.push_back(1);
  dims.back() *= 2;
  return w.reshape(
      joined(w, w.reshape(a, column, "even_column"), w.reshape(b, column, "odd_column"), "pairs"), dims,
      "turned");
}

}  // namespace

bool expand_rotary_embedding(Graph& g, Node& n) {
  Value* x = n.input(0);
  const DType dtype = x->type.dtype;
  const bool is_vector = dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
  if (!n.is("RotaryEmbedding") || !is_vector || element_count(x->type.dims()) == 0) return false;
  NodeWriter w(g, n);
  const Dims stored = x->type.dims();
  const bool flat = stored.size() == 3;
  const std::int64_t batch = stored[0], positions = flat ? stored[1] : stored[2];
  if (flat) {
    const std::int64_t heads = n.attrs.get_int("num_heads", 1);
    x = w.reshape(x, {batch, positions, heads, stored[2] / heads}, "heads");
  }
  const std::int64_t size = x->type.dims().back();
  const std::int64_t some = n.attrs.get_int("rotary_embedding_dim", 0), turned = some == 0 ? size : some;
  const std::int64_t half = turned / 2;
  auto table = [&](std::size_t input, const std::string& suffix) {
    Value* rows = n.input(input);
    if (n.input(3) != nullptr) {
      Node* picked = w.insert("Gather", {rows, n.input(3)},
                              ir::tensor_type(rows->type.dtype, {batch, positions, half}), suffix);
      picked->attrs.set("axis", std::int64_t{0});
      rows = picked->output(0);
    }
    const Dims dims = flat ? Dims{batch, positions, 1, half} : Dims{batch, 1, positions, half};
    return w.reshape(rows, dims, suffix + "_of_heads");
  };
  Value *cos = table(1, "cos"), *sin = table(2, "sin");
  const bool neighbours = n.attrs.get_int("interleaved", 0) != 0;
  Value* a = neighbours ? elements(w, x, 0, turned, 2, "even") : elements(w, x, 0, half, 1, "low");
  Value* b = neighbours ? elements(w, x, 1, turned, 2, "odd") : elements(w, x, half, turned, 1, "high");
  Value* low = w.binary("Sub", w.binary("Mul", a, cos, a, "a_cos"), w.binary("Mul", b, sin, a, "b_sin"), a,
                        "turned_low");
  Value* high = w.binary("Add", w.binary("Mul", a, sin, a, "a_sin"), w.binary("Mul", b, cos, a, "b_cos"), a,
                         "turned_high");
  Value* y = neighbours ? interleaved(w, low, high) : joined(w, low, high, "turned");
  if (turned < size) y = joined(w, y, elements(w, x, turned, size, 1, "rest"), "whole_heads");
  w.finish(w.reshape(y, stored, "joined_heads"));
  return true;
}

}  // namespace atc::passes
