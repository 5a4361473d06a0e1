#include <cmath>

#include "runtime/network_maker.h"

namespace atc::runtime {
namespace {

using ir::Node;
using ir::Value;

Value* transpose(NetworkMaker& m, Value* x, const Dims& perm) {
  Node* t = m.node("Transpose", {x});
  t->attrs.set("perm", perm);
  return m.finish(t);
}

Value* mean(NetworkMaker& m, Value* x, const Dims& axes) {
  Node* n = m.node("ReduceMean", {x});
  n->attrs.set("axes", axes);
  n->attrs.set("keepdims", std::int64_t{1});
  return m.finish(n);
}

Value* projected(NetworkMaker& m, Value* x, std::int64_t columns) {
  const std::int64_t k = x->type.dims().back();
  Value* y = m.add("MatMul", {x, m.constant({k, columns}, 1.0 / std::sqrt(static_cast<double>(k)))});
  return m.chance(70) ? m.add("Add", {y, m.constant({columns}, 0.3)}) : y;
}

bool is_sequence(const Dims& d) { return d.size() == 3 && d[2] >= 4 && d[2] % 4 == 0 && d[2] <= 64; }
bool is_image(const Dims& d) { return d.size() == 4; }

// [B, S, D] by heads, softmax of scaled and perhaps masked scores.
void attention(NetworkMaker& m, Value* x) {
  const Dims d = x->type.dims();
  const std::int64_t heads = m.chance(50) ? 2 : 4, each = d[2] / heads;
  const auto split = [&](Value* v, const Dims& perm) {
    return transpose(m, m.add("Reshape", {v, m.ints({d[0], d[1], heads, each})}), perm);
  };
  const bool late = m.chance(50);
  Value* q = split(projected(m, x, d[2]), {0, 2, 1, 3});
  Value* k = split(projected(m, x, d[2]), {0, 2, 3, 1});
  Value* v = split(projected(m, x, d[2]), {0, 2, 1, 3});
  const double scale = 1 / std::sqrt(static_cast<double>(each));
  if (!late) q = m.add("Mul", {q, m.scalar(scale)});
  Value* scores = m.add("MatMul", {q, k});
  if (late) scores = m.add("Div", {scores, m.scalar(1 / scale)});
  if (m.chance(40)) scores = m.add("Add", {scores, m.constant({d[1], d[1]}, 2.0)});
  Node* softmax = m.node("Softmax", {scores});
  softmax->attrs.set("axis", m.chance(90) ? std::int64_t{-1} : std::int64_t{2});
  Value* weights = m.finish(softmax);
  Value* y = transpose(m, m.add("MatMul", {weights, v}), {0, 2, 1, 3});
  y = projected(m, m.add("Reshape", {y, m.ints(d)}), d[2]);
  if (m.chance(70)) m.add("Add", {y, x});
}

void layer_norm(NetworkMaker& m, Value* x) {
  const std::int64_t width = x->type.dims().back();
  const bool centered = m.chance(60);
  Value* c = centered ? m.add("Sub", {x, mean(m, x, {-1})}) : x;
  Value* square = m.chance(50) ? m.add("Pow", {c, m.scalar(2)}) : m.add("Mul", {c, c});
  Value* root = m.add("Sqrt", {m.add("Add", {mean(m, square, {-1}), m.scalar(1e-2)})});
  Value* y = m.chance(60) ? m.add("Div", {c, root}) : m.add("Mul", {c, m.add("Reciprocal", {root})});
  if (m.chance(70)) y = m.add("Mul", {y, m.positive({width})});
  if (m.chance(70)) m.add("Add", {y, m.constant({width}, 0.5)});
}

void gelu(NetworkMaker& m, Value* x) {
  Value* curve = nullptr;
  if (m.chance(60)) {
    curve = m.add("Erf", {m.add("Div", {x, m.scalar(std::sqrt(2.0))})});
  } else {
    Value* cubic = m.add("Mul", {m.add("Pow", {x, m.scalar(3)}), m.scalar(0.044715)});
    curve =
        m.add("Tanh", {m.add("Mul", {m.add("Add", {x, cubic}), m.scalar(std::sqrt(2 / 3.14159265358979))})});
  }
  Value* one = m.add("Add", {curve, m.scalar(1)});
  if (m.chance(50))
    m.add("Mul", {m.add("Mul", {x, one}), m.scalar(0.5)});
  else
    m.add("Mul", {m.add("Mul", {x, m.scalar(0.5)}), one});
}

void gated_unit(NetworkMaker& m, Value* x) {
  const std::int64_t hidden = 4 * m.between(1, 6);
  Value *g = nullptr, *u = nullptr;
  if (m.chance(50)) {
    g = projected(m, x, hidden);
    u = projected(m, x, hidden);
  } else {
    Node* split = m.node("Split", {projected(m, x, 2 * hidden)}, 2, 13);
    split->attrs.set("axis", std::int64_t{-1});
    g = m.finish(split);
    u = split->output(1);
  }
  Value* gate = m.add("Mul", {g, m.add("Sigmoid", {g})});
  projected(m, m.add("Mul", {gate, u}), x->type.dims().back());
}

// x * cos + rotate_half(x) * sin.
void rotary(NetworkMaker& m, Value* x) {
  const Dims d = x->type.dims();
  const std::int64_t half = d.back() / 2;
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return m.add("Slice", {x, m.ints({from}), m.ints({to}), m.ints({2})});
  };
  Value *low = part(0, half), *high = part(half, 2 * half);
  Node* joined = m.node("Concat", {m.add("Neg", {high}), low});
  joined->attrs.set("axis", std::int64_t{-1});
  Value* turned = m.finish(joined);
  Value *cos = m.constant({d[1], d[2]}), *sin = m.constant({d[1], d[2]});
  m.add("Add", {m.add("Mul", {x, cos}), m.add("Mul", {turned, sin})});
}

// Convolution, normalization, an activation, and a residual where shapes fit.
void conv_block(NetworkMaker& m, Value* x) {
  const std::int64_t in = x->type.dims()[1], out = m.chance(50) ? in : m.between(1, 20);
  Node* conv = m.node("Conv", {x, m.constant({out, in, 3, 3}, 0.6 / std::sqrt(static_cast<double>(in)))});
  conv->attrs.set("pads", Dims{1, 1, 1, 1});
  Value* y = m.finish(conv);
  if (m.chance(70))
    y = m.add("BatchNormalization",
              {y, m.positive({out}), m.constant({out}, 0.3), m.constant({out}, 0.3), m.positive({out})});
  const std::int64_t kind = m.between(0, 3);
  if (kind == 0) y = m.add("Relu", {y});
  if (kind == 1) y = m.add("Mul", {y, m.add("Sigmoid", {y})});
  if (kind == 2) y = m.add("HardSwish", {y});
  if (y->type.dims() == x->type.dims() && m.chance(60)) m.add("Add", {y, x});
}

}  // namespace

void add_pattern_step(NetworkMaker& m) {
  const std::int64_t what = m.between(0, 6);
  Value* x = m.any(what == 5 ? is_image : is_sequence);
  if (x == nullptr) {
    x = m.any(what == 5 ? is_sequence : is_image);
    if (x == nullptr) return;
    if (is_image(x->type.dims())) return conv_block(m, x);
    return layer_norm(m, x);
  }
  switch (what) {
    case 0:
      return attention(m, x);
    case 1:
      return layer_norm(m, x);
    case 2:
      return gelu(m, x);
    case 3:
      return gated_unit(m, x);
    case 4:
      return rotary(m, x);
    case 5:
      return conv_block(m, x);
    default: {
      // A whole layer.
      attention(m, x);
      Value* y = m.any(is_sequence);
      if (y != nullptr) layer_norm(m, y);
      y = m.any(is_sequence);
      if (y != nullptr) gated_unit(m, y);
    }
  }
}

}  // namespace atc::runtime
