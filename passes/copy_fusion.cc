#include "passes/copy_fusion.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "passes/copy_pieces.h"
#include "passes/rewrite.h"
#include "passes/rules.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

// Copies of a chain: networks have them next to each other.
constexpr std::size_t kMaxNodes = 32;

/// What a Slice of static shapes takes along one axis; nullopt: steps other than 1, or bounds that are not
/// constant.
struct Range {
  std::size_t axis = 0;
  std::int64_t first = 0;
};
std::optional<std::vector<Range>> ranges_of(const Node& n) {
  Dims starts = n.attrs.get_ints("starts"), axes = n.attrs.get_ints("axes");
  if (n.version >= 10) {
    const auto list = [&](std::size_t i, Dims& out) {
      const auto values = n.input(i) == nullptr ? std::optional(Dims{}) : ops::constant_list(n, i);
      if (values) out = *values;
      return values.has_value();
    };
    Dims steps;
    if (!list(1, starts) || !list(3, axes) || !list(4, steps) ||
        std::ranges::any_of(steps, [](std::int64_t s) { return s != 1; }))
      return std::nullopt;
  }
  const Dims in = n.input(0)->type.dims();
  std::vector<Range> out;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis =
        ops::normalize_axis(i < axes.size() ? axes[i] : static_cast<std::int64_t>(i), std::ssize(in));
    if (!axis) return std::nullopt;
    const std::size_t a = static_cast<std::size_t>(*axis);
    out.push_back({a, std::clamp<std::int64_t>(starts[i] < 0 ? starts[i] + in[a] : starts[i], 0, in[a])});
  }
  return out;
}

bool is_split(const Node& n) { return n.domain.empty() && n.is("Split"); }

/// Moves elements of values in rows.
bool is_copy(const Graph& g, const Node& n) {
  if (n.graph() != &g || !n.domain.empty() || !has_static_shapes(n) || n.outputs().empty()) return false;
  if (!is_reshape(n) && !n.is("Concat") && !n.is("Transpose") && !n.is("Slice") && !is_split(n)) return false;
  const std::size_t data = n.is("Concat") ? n.inputs().size() : 1;
  for (std::size_t i = 0; i < data; ++i)
    if (n.input(i)->type.format != ir::Format::ND || !ops::is_copyable(n.input(i)->type.dtype)) return false;
  return std::ranges::all_of(n.outputs(), [](const Value* v) {
    return v == nullptr || (v->type.format == ir::Format::ND && element_count(v->type.dims()) > 0);
  });
}

/// Axes longer than 1 change their order.
bool turns(const Node& n) {
  if (!n.is("Transpose")) return false;
  Dims moved;
  for (std::int64_t p : permutation_of(n))
    if (n.input(0)->type.dims()[static_cast<std::size_t>(p)] != 1) moved.push_back(p);
  return !std::ranges::is_sorted(moved);
}

/// A Concat or Transpose with the copies that it reads.
class Chain {
 public:
  Chain(const Graph& g, Node& last) : graph_(g), last_(last) {
    grow(last);
    std::vector<const Value*> read;
    for (const Node* n : nodes_)
      for (std::size_t i = 0; i < data_inputs(*n); ++i) {
        Value* v = n->input(i);
        if (v->producer() != nullptr && inside_.contains(v->producer())) continue;
        several_ = several_ || (base_ != nullptr && base_ != v);
        base_ = v;
      }
  }

  /// Tasks that the chain is without this pass, at least.
  std::int64_t copies() const {
    return std::ranges::count_if(nodes_, [](const Node* n) { return n->is("Concat") || turns(*n); });
  }
  Value* base() const { return several_ || base_ == nullptr || base_->is_constant() ? nullptr : base_; }
  const std::vector<Node*>& nodes() const { return nodes_; }

  std::optional<CopyPieces> pieces() { return of(last_.output(0)); }

 private:
  static std::size_t data_inputs(const Node& n) { return n.is("Concat") ? n.inputs().size() : 1; }

  // Takes in what nothing outside the chain reads. A value may be read by several nodes of it, so that its
  // maker comes when they all are inside.
  void grow(Node& n) {
    inside_.insert(&n);
    nodes_.push_back(&n);
    for (std::size_t i = 0; i < data_inputs(n) && nodes_.size() < kMaxNodes; ++i) {
      Node* p = n.input(i)->producer();
      if (p == nullptr || inside_.contains(p) || !is_copy(graph_, *p)) continue;
      const bool closed = std::ranges::all_of(p->outputs(), [&](const Value* v) {
        return v == nullptr ||
               (!graph_.is_output(v) && std::ranges::all_of(v->uses(), [&](const Value::Use& use) {
                 return inside_.contains(use.node) &&
                        static_cast<std::size_t>(use.index) < data_inputs(*use.node);
               }));
      });
      if (closed) grow(*p);
    }
  }

  std::optional<CopyPieces> of(const Value* v) {
    const Node* n = v->producer();
    if (v == base_ || n == nullptr || !inside_.contains(n)) return whole_copy(v->type.dims());
    if (const auto known = known_.find(v); known != known_.end()) return known->second;
    return known_[v] = made(*n, v);
  }

  std::optional<CopyPieces> made(const Node& n, const Value* v) {
    if (n.is("Concat")) return joined(n);
    auto x = of(n.input(0));
    if (!x) return std::nullopt;
    if (is_reshape(n)) return reshaped_copy(*x, v->type.dims());
    if (n.is("Transpose")) return transposed_copy(*x, permutation_of(n));
    if (is_split(n)) {
      const auto axis = axis_of(n, 0, x->dims.size());
      std::int64_t first = 0;
      for (const Value* out : n.outputs()) {
        if (out == v) break;
        if (out == nullptr) return std::nullopt;
        first += out->type.dims()[*axis];
      }
      return sliced_copy(*x, *axis, first, first + v->type.dims()[*axis]);
    }
    const auto ranges = ranges_of(n);
    if (!ranges) return std::nullopt;
    for (const Range& r : *ranges) {
      if (x) x = sliced_copy(*x, r.axis, r.first, r.first + v->type.dims()[r.axis]);
    }
    return x;
  }

  std::optional<CopyPieces> joined(const Node& n) {
    std::vector<CopyPieces> parts;
    for (const Value* input : n.inputs()) {
      auto part = of(input);
      if (!part) return std::nullopt;
      parts.push_back(*std::move(part));
    }
    const auto axis = axis_of(n, 1, parts[0].dims.size());
    return axis ? joined_copies(parts, *axis) : std::nullopt;
  }

  const Graph& graph_;
  Node& last_;
  std::vector<Node*> nodes_;
  std::unordered_set<const Node*> inside_;
  Value* base_ = nullptr;
  bool several_ = false;
  std::map<const Value*, std::optional<CopyPieces>> known_;
};

bool fuse(Graph& g, Node& n) {
  if (!is_copy(g, n) || !(n.is("Concat") || turns(n))) return false;
  Chain chain(g, n);
  if (chain.copies() < 2 || chain.base() == nullptr) return false;
  const auto pieces = chain.pieces();
  if (!pieces) return false;
  Node* copy = g.add_node("BoxCopy", {chain.base()}, 1, &n, "atc", 0);
  copy->name = n.name;
  for (auto it = chain.nodes().rbegin(); it != chain.nodes().rend(); ++it) add_sources(*copy, **it);
  ops::set_copy_boxes(*copy, n.output(0)->type.dims(), copy_boxes(*pieces));
  copy->output(0)->type = n.output(0)->type;
  replace_value(n.output(0), copy->output(0));
  return true;
}

StatusOr<int> run(Graph& graph, PassContext&) {
  int changes = 0;
  // The last copy of a chain first, so that it takes the whole chain in. What is replaced stays, read by
  // nobody, until all are done.
  const std::vector<Node*> nodes = graph.node_list();
  const auto is_read = [&](const Value* v) {
    return v != nullptr && (!v->uses().empty() || graph.is_output(v));
  };
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it)
    if (!(*it)->outputs().empty() && is_read((*it)->output(0)) && fuse(graph, **it)) ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass copy_fusion_pass() {
  return {"copy-fusion", "", "copies of copies of one value become one that moves boxes of elements", run};
}

}  // namespace atc::passes
