#include "passes/norm_pattern.h"

#include <algorithm>

#include "ops/body.h"
#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

bool is_vector_float(const Value* v) {
  const DType t = v->type.dtype;
  return t == DType::F32 || t == DType::F16 || t == DType::BF16;
}

/// Through Casts between float types.
Value* uncast(Value* v, std::vector<Node*>& nodes) {
  while (Node* n = made_by(v, "Cast")) {
    if (!is_vector_float(v) || !is_vector_float(n->input(0))) break;
    nodes.push_back(n);
    v = n->input(0);
  }
  return v;
}

/// A value and the nodes on the way to it.
struct Reached {
  Value* value = nullptr;
  std::vector<Node*> nodes;
};

/// x of v = x^2.
std::optional<Reached> squared(Value* v) {
  const Product p = product_of(v);
  if (p.c != 1 || p.factors.size() != 2 || p.factors[0] != p.factors[1]) return std::nullopt;
  return Reached{p.factors[0], p.nodes};
}

/// The one reader of `v`, through Casts between float types, which are added to `nodes`.
Node* only_reader(Value*& v, std::vector<Node*>& nodes) {
  for (;;) {
    if (!is_private(v)) return nullptr;
    Node* n = v->uses()[0].node;
    if (n->graph() != v->graph()) return nullptr;
    if (!n->is("Cast") || !is_vector_float(n->output(0))) return n;
    nodes.push_back(n);
    v = n->output(0);
  }
}

bool contains(const std::vector<Node*>& nodes, const Node* n) {
  return std::find(nodes.begin(), nodes.end(), n) != nodes.end();
}

/// Broadcasts to x, with 1 on the axes that are not normalized.
bool is_parameter(const Value* p, const NormPattern& m) {
  if (p->type.dtype != m.x->type.dtype || !p->type.is_static()) return false;
  const Dims dims = p->type.dims(), x = m.x->type.dims();
  if (dims.size() > x.size()) return false;
  const std::size_t missing = x.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const bool normalized = static_cast<std::int64_t>(i + missing) >= m.axis;
    if (dims[i] != 1 && (!normalized || dims[i] != x[i + missing])) return false;
  }
  return true;
}

/// One number an index of axis 1 of x, on whose planes the normalization is.
bool is_channel_parameter(const Value* p, const NormPattern& m) {
  const Dims x = m.x->type.dims();
  if (!m.centred || m.axis != 2 || x.size() < 3 || p->type.dtype != m.x->type.dtype || !p->type.is_static())
    return false;
  const Dims dims = p->type.dims();
  if (dims.size() > x.size() || dims.size() + 1 < x.size()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != (i + x.size() - dims.size() == 1 ? x[1] : 1)) return false;
  return true;
}

class Matcher {
 public:
  explicit Matcher(Node& root) : root_(root) {}

  std::optional<NormPattern> run() {
    if (!statistics()) return std::nullopt;
    if (!trails()) m_.axis = -1;
    if (!quotient()) return std::nullopt;
    if (m_.axis >= 0) affine();
    if (!is_closed(m_.nodes, *m_.last)) return std::nullopt;
    std::reverse(m_.nodes.begin(), m_.nodes.end());
    return m_;
  }

 private:
  void take(const std::vector<Node*>& nodes) {
    for (Node* n : nodes)
      if (!contains(m_.nodes, n)) m_.nodes.push_back(n);
  }

  std::optional<Dims> mean_axes(const Node* n) const {
    if (n == nullptr || !has_static_shapes(*n) ||
        n->output(0)->type.shape->size() != n->input(0)->type.shape->size())
      return std::nullopt;
    return ops::vector_reduce_axes(*n);
  }

  /// From the root's input up: epsilon, x, d, the mean and the axes.
  bool statistics() {
    std::vector<Node*> path = {&root_};
    Node* add = made_by(uncast(root_.input(0), path), "Add");
    const auto sum = add == nullptr ? std::nullopt : with_scalar(*add, "Add");
    if (!sum || sum->c < 0) return false;
    m_.epsilon = sum->c;
    path.push_back(add);
    Value* v = uncast(sum->x, path);
    if (Node* relu = made_by(v, "Relu"); relu != nullptr) {
      path.push_back(relu);
      v = relu->input(0);
    } else if (Node* max = made_by(v, "Max"); max != nullptr && max->inputs().size() == 2) {
      const std::size_t zero = scalar_of(max->input(0)) == 0 ? 0 : 1;
      if (scalar_of(max->input(zero)) != 0) return false;
      path.push_back(max);
      v = max->input(1 - zero);
    }
    const bool found = variance(v, path) || difference_of_means(v, path);
    std::reverse(m_.nodes.begin(), m_.nodes.end());
    return found;
  }

  /// v = ReduceMean(d^2): d = x - m, or x itself.
  bool variance(Value* v, const std::vector<Node*>& path) {
    Node* mean = made_by(v, "ReduceMean");
    const auto axes = mean_axes(mean);
    const auto square = axes ? squared(mean->input(0)) : std::nullopt;
    if (!square) return false;
    take(path);
    take({mean});
    take(square->nodes);
    axes_ = *axes;
    std::vector<Node*> casts;
    d_ = uncast(square->value, casts);
    // A Cast in front of the square that the quotient reads too belongs to x.
    if (!casts.empty() && !is_private(square->value)) {
      d_ = square->value;
      casts.clear();
    }
    take(casts);
    m_.x = d_;
    Node* sub = made_by(d_, "Sub");
    if (sub == nullptr) return true;
    std::vector<Node*> means;
    Node* first = made_by(uncast(sub->input(1), means), "ReduceMean");
    if (mean_axes(first) != axes_) return true;
    std::vector<Node*> before;
    if (first->input(0) != sub->input(0) && uncast(first->input(0), before) != sub->input(0)) return true;
    take({sub});
    take(means);
    take({first});
    take(before);
    m_.x = sub->input(0);
    mean_ = sub->input(1);
    m_.centred = true;
    return true;
  }

  /// v = ReduceMean(x^2) - m^2.
  bool difference_of_means(Value* v, const std::vector<Node*>& path) {
    Node* sub = made_by(v, "Sub");
    if (sub == nullptr) return false;
    Node* mean = made_by(sub->input(0), "ReduceMean");
    const auto axes = mean_axes(mean);
    const auto square = axes ? squared(mean->input(0)) : std::nullopt;
    const auto mean_square = squared(sub->input(1));
    if (!square || !mean_square) return false;
    Node* first = made_by(mean_square->value, "ReduceMean");
    if (mean_axes(first) != axes || first->input(0) != square->value) return false;
    take(path);
    take({sub});
    take(mean_square->nodes);
    take({mean});
    take(square->nodes);
    take({first});
    axes_ = *axes;
    m_.x = square->value;
    mean_ = mean_square->value;
    m_.centred = true;
    // The difference that is divided is made apart.
    for (const Value::Use& use : mean_->uses())
      if (use.node->is("Sub") && use.node->input(0) == m_.x && use.index == 1) {
        d_ = use.node->output(0);
        take({use.node});
      }
    return true;
  }

  /// The normalized axes are the last ones.
  bool trails() {
    const std::int64_t rank = std::ssize(*m_.x->type.shape);
    m_.axis = axes_.empty() ? rank : axes_.front();
    return !axes_.empty() && axes_.back() == rank - 1;
  }

  /// From the root down to d / root, d * f, or x * f + (bias - m * f) with f = scale / root.
  bool quotient() {
    std::vector<Node*> path;
    Value* v = root_.output(0);
    bool inverse = root_.is("Pow") && *scalar_of(root_.input(1)) < 0;
    Node* reader = only_reader(v, path);
    if (reader == nullptr) return false;
    if (!inverse && (reader->is("Reciprocal") ||
                     (reader->is("Div") && reader->input(1) == v && scalar_of(reader->input(0)) == 1))) {
      path.push_back(reader);
      v = reader->output(0);
      inverse = true;
      reader = only_reader(v, path);
      if (reader == nullptr) return false;
    }
    m_.nodes.insert(m_.nodes.end(), path.begin(), path.end());
    m_.nodes.push_back(reader);
    Value* other = reader->input(reader->input(0) == v ? 1 : 0);
    const bool divides = !inverse && reader->is("Div") && reader->input(1) == v;
    if (!divides && !(inverse && reader->is("Mul"))) return false;
    if (other == d_) {
      m_.last = reader;
      return d_ != nullptr && reader->output(0)->type == m_.x->type;
    }
    if (m_.axis < 0 || !is_parameter(other, m_)) return false;
    m_.scale = other;
    return by_factor(reader->output(0));
  }

  /// d * f, or x * f + (bias - m * f).
  bool by_factor(Value* f) {
    Node *straight = nullptr, *shift = nullptr;
    for (const Value::Use& use : f->uses()) {
      if (!use.node->is("Mul") || use.node->graph() != f->graph()) return false;
      const Value* other = use.node->input(use.index == 0 ? 1 : 0);
      Node*& role = mean_ != nullptr && other == mean_ ? shift : straight;
      if (role != nullptr || (&role == &straight && other != (f->uses().size() == 1 ? d_ : m_.x)))
        return false;
      role = use.node;
    }
    if (straight == nullptr) return false;
    m_.last = straight;
    if (shift != nullptr) {
      Value *sx = straight->output(0), *sm = shift->output(0);
      if (!is_private(sx) || !is_private(sm)) return false;
      Node *sub = sm->uses()[0].node, *add = sx->uses()[0].node;
      if (!sub->is("Sub") || sub->input(1) != sm || !is_parameter(sub->input(0), m_) || !add->is("Add") ||
          add->input(add->input(0) == sx ? 1 : 0) != sub->output(0))
        return false;
      m_.bias = sub->input(0);
      m_.nodes.insert(m_.nodes.end(), {shift, sub});
      m_.last = add;
    }
    m_.nodes.push_back(straight);
    if (m_.last != straight) m_.nodes.push_back(m_.last);
    return m_.last->output(0)->type == m_.x->type;
  }

  /// Scale and bias behind the quotient, as far as they are there.
  void affine() {
    Value* y = m_.last->output(0);
    if (y->type != m_.x->type) return;
    auto next = [&](std::string_view type) -> Value* {
      if (!is_private(y)) return nullptr;
      Node* n = y->uses()[0].node;
      if (!n->is(type) || n->graph() != y->graph()) return nullptr;
      Value* p = n->input(n->input(0) == y ? 1 : 0);
      if (p == y || n->output(0)->type != y->type) return nullptr;
      // Scale and bias are of one kind.
      const bool channels = is_channel_parameter(p, m_) && (m_.scale == nullptr || m_.by_channel);
      if (!channels && (m_.by_channel || !is_parameter(p, m_))) return nullptr;
      m_.by_channel = channels;
      m_.nodes.push_back(n);
      m_.last = n;
      y = n->output(0);
      return p;
    };
    if (m_.scale == nullptr) m_.scale = next("Mul");
    if (m_.centred && m_.bias == nullptr) m_.bias = next("Add");
  }

  Node& root_;
  NormPattern m_;
  Dims axes_;
  Value* d_ = nullptr;  // what is divided
  Value* mean_ = nullptr;
};

}  // namespace

std::optional<NormPattern> match_norm(Node& root) {
  if (root.is("Pow")) {
    const auto e = scalar_of(root.input(1));
    if (!e || (*e != 0.5 && *e != -0.5)) return std::nullopt;
  } else if (!root.is("Sqrt")) {
    return std::nullopt;
  }
  if (!is_vector_float(root.output(0))) return std::nullopt;
  return Matcher(root).run();
}

}  // namespace atc::passes
