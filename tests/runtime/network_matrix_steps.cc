#include <algorithm>
#include <cmath>

#include "runtime/network_maker.h"

namespace atc::runtime {
namespace {

using ir::Value;

bool is_matrix(const Dims& d) { return d.size() >= 2 && d.size() <= 4 && d.back() > 16; }

// Columns that are whole blocks of FRACTAL_NZ, now and then not.
std::int64_t columns(NetworkMaker& m) { return m.chance(85) ? 16 * m.between(1, 8) : m.between(17, 90); }

void linear(NetworkMaker& m) {
  Value* a = m.any(is_matrix);
  if (a == nullptr) return;
  const std::int64_t k = a->type.dims().back(), n = columns(m);
  Value* y = m.add("MatMul", {a, m.constant({k, n}, 2.0 / std::sqrt(static_cast<double>(k)))});
  if (m.chance(70)) y = m.add("Add", {y, m.constant({n})});
  if (m.chance(40)) m.add(m.pick({"Relu", "Sigmoid", "Tanh", "HardSwish"}), {y});
}

// Whether a product of two activations is in it. Its rows may differ by little more than what fp16 keeps of
// them, which a LayerNormalization would show as an error.
bool holds_scores(const Value* v) {
  const ir::Node* n = v->producer();
  if (n == nullptr) return false;
  return std::ranges::any_of(n->inputs(), holds_scores) || (n->is("MatMul") && !n->input(1)->is_constant());
}

void normalization(NetworkMaker& m) {
  Value* a = m.any(is_matrix);
  if (a == nullptr) return;
  const std::int64_t n = a->type.dims().back();
  switch (m.between(0, 3)) {
    case 0: {
      ir::Node* s = m.node("Softmax", {a}, 1, 13);
      s->attrs.set("axis", std::int64_t{-1});
      m.finish(s);
      break;
    }
    case 1: {  // down the rows
      ir::Node* r = m.node("ReduceMax", {a}, 1, 13);
      r->attrs.set("axes", Dims{-2});
      m.add("Sub", {a, m.finish(r)});
      break;
    }
    default:
      if (holds_scores(a)) return;
      m.add("LayerNormalization", {a, m.positive({n}), m.constant({n})});
  }
}

void elementwise(NetworkMaker& m) {
  Value* a = m.any(is_matrix);
  if (a == nullptr) return;
  const Dims d = a->type.dims();
  switch (m.between(0, 3)) {
    case 0:  // a factor for each row
      m.add("Mul", {a, m.constant({d[d.size() - 2], 1})});
      break;
    case 1:
      m.add("Mul", {a, m.constant({d.back()})});
      break;
    default: {  // a residual
      Value* b = m.any([&](const Dims& x) { return x == d; });
      m.add("Add", {a, b});
    }
  }
}

// Both operands are activations.
void product(NetworkMaker& m) {
  Value* a = m.any(is_matrix);
  if (a == nullptr) return;
  const Dims d = a->type.dims();
  if (m.chance(50)) {
    Value* b =
        m.any([&](const Dims& x) { return x.size() == d.size() && x.back() == d.back() && is_matrix(x); });
    const Dims bd = b->type.dims();
    for (std::size_t i = 0; i + 2 < d.size(); ++i)
      if (bd[i] != d[i] && bd[i] != 1 && d[i] != 1) return;
    Dims perm;
    for (std::int64_t i = 0; i < std::ssize(d); ++i) perm.push_back(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    ir::Node* t = m.node("Transpose", {b});
    t->attrs.set("perm", perm);
    m.add("MatMul", {a, m.finish(t)});
    return;
  }
  Value* b = m.any([&](const Dims& x) {
    return x.size() == d.size() && x[x.size() - 2] == d.back() &&
           Dims(x.begin(), x.end() - 2) == Dims(d.begin(), d.end() - 2);
  });
  if (b != nullptr) m.add("MatMul", {a, b});
}

}  // namespace

void add_matrix_step(NetworkMaker& m) {
  const std::int64_t what = m.between(0, 9);
  if (what < 4)
    linear(m);
  else if (what < 6)
    normalization(m);
  else if (what < 8)
    elementwise(m);
  else
    product(m);
}

RandomNetwork random_matrix_network(unsigned seed) {
  NetworkMaker m(seed);
  Dims dims = {m.chance(60) ? 16 * m.between(1, 4) : m.between(2, 70), 16 * m.between(2, 6)};
  if (m.chance(60)) dims.insert(dims.begin(), m.chance(50) ? 1 : m.between(2, 3));
  if (m.chance(20)) dims.insert(dims.begin(), m.between(1, 2));
  m.input(dims);
  for (std::int64_t i = m.between(4, 14); i > 0; --i) add_matrix_step(m);
  return finished(m);
}

}  // namespace atc::runtime
