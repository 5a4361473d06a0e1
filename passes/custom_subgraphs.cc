#include "passes/custom_subgraphs.h"

#include "atc/base/check.h"
#include "passes/attention_fusion.h"
#include "passes/attention_orientation.h"
#include "passes/constant_folding.h"
#include "passes/custom_attention.h"
#include "passes/custom_operands.h"
#include "passes/gated_unit.h"
#include "passes/match.h"
#include "passes/rewrite.h"
#include "passes/rope_pattern.h"
#include "passes/softmax_pooling_pattern.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_floating(const Value* v) {
  const DType t = v->type.dtype;
  return t == DType::F32 || t == DType::F16 || t == DType::BF16;
}

class Taker {
 public:
  Taker(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        takeover_(*context.custom),
        operands_(graph),
        rope_(find({"RoPE", "RotaryPositionEmbedding"})),
        swiglu_(find({"SwiGlu", "SwiGLU"})),
        attention_(find({"Attention"})),
        pooling_(find({"SoftmaxMulReduceSum"})) {}

  StatusOr<int> run() {
    if (attention_ != nullptr) {
      ATC_ASSIGN(const int turned, attention_orientation_pass().run(graph_, context_));
      changes_ += turned;
    }
    int taken = 0;
    const std::vector<Node*> nodes = graph_.node_list();
    // Later nodes first: what a pattern left behind is read by nobody then.
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      const Value* y = (*n)->output(0);
      if (y == nullptr || !graph_.is_used(y) || !is_floating(y) || !has_static_shapes(**n) ||
          element_count(y->type.dims()) == 0)
        continue;
      ATC_ASSIGN(const bool done, visit(**n));
      taken += done ? 1 : 0;
    }
    changes_ += taken;
    if (taken == 0) return changes_;
    graph_.sweep();
    // A table's form stands in front of the last node that reads it.
    ATC_CHECK(graph_.sort(), "tables of custom operators made a cycle");
    // Constant tables that were brought into form.
    ATC_ASSIGN(const int folded, constant_folding_pass().run(graph_, context_));
    graph_.sweep();
    return changes_ + folded;
  }

 private:
  const CustomEntry* find(std::initializer_list<std::string_view> types) const {
    return takeover_.operators.find_type(types, *context_.options.chip);
  }

  StatusOr<bool> visit(Node& n) {
    if (rope_ != nullptr && (n.is("Add") || n.is("Concat") || n.is("Reshape")))
      if (const auto p = match_rope(n)) return take_rope(n, *p);
    if (swiglu_ != nullptr && n.is("Mul")) return take_gated_unit(n);
    if (attention_ != nullptr && n.is("MatMul"))
      if (const auto p = find_attention(graph_, n, changes_)) {
        CustomOffer offer;
        const std::string why = offer_attention(graph_, *p, attention_->info(), offer);
        return why.empty() ? take(*attention_, offer) : missed("Attention", n, why);
      }
    if (pooling_ != nullptr && (n.is("ReduceSum") || n.is("MatMul")))
      if (const auto p = match_pooling(n)) return take_pooling(n, *p);
    return false;
  }

  StatusOr<bool> missed(std::string_view pattern, const Node& n, std::string_view why) {
    context_.near_miss(pattern, n, why);
    return false;
  }

  static CustomOffer offer_of(std::string pattern, Node& last, std::vector<Node*> nodes) {
    CustomOffer offer;
    offer.pattern = std::move(pattern);
    offer.last = &last;
    offer.nodes = std::move(nodes);
    offer.result = last.output(0)->type.dims();
    return offer;
  }

  StatusOr<bool> take_rope(Node& n, const RopePattern& p) {
    const Dims dims = n.output(0)->type.dims();
    for (const Node* k : p.nodes)
      if (!has_static_shapes(*k)) return false;
    const std::int64_t width = p.half_tables ? dims.back() / 2 : dims.back();
    const auto is_table = [&](const Value* t) {
      return t->type.is_static() && t->type.dtype == n.output(0)->type.dtype &&
             spans(t->type.dims(), dims, width);
    };
    if (!is_table(p.cos) || !is_table(p.sin) || p.cos->type.dims() != p.sin->type.dims())
      return missed("RoPE", n, "the tables of cosines and sines are not broadcast alike over whole heads");
    CustomOffer offer = offer_of("RoPE", n, {p.nodes.rbegin(), p.nodes.rend()});
    offer.attrs = {{"mode", std::int64_t{p.interleaved ? 1 : 0}}};
    if (p.interleaved) offer.needed = {"mode"};
    offer.inputs.resize(3, n.output(0));
    if (const std::string why = cannot_take(rope_->info(), offer); !why.empty())
      return missed("RoPE", n, why);
    Value* x = p.x != nullptr ? p.x : operands_.whole(n, p.low, p.low_view, p.interleaved, dims);
    if (x == nullptr) x = operands_.join(n, p.low, p.high, p.interleaved, "x");
    offer.inputs = {x, p.cos, p.sin};
    if (p.half_tables)
      for (const std::size_t i : {1U, 2U})
        offer.inputs[i] = operands_.twice(n, offer.inputs[i], p.interleaved);
    return take(*rope_, offer);
  }

  StatusOr<bool> take_gated_unit(Node& n) {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto gate = gate_of(n.input(i));
      if (!gate || gate->label != kSwiGlu) continue;
      const Node& activation = *gate->nodes.front();
      if (activation.is("Swish") && activation.attrs.get_float("alpha", 1.0F) != 1.0F) continue;
      Value *g = gate->g, *up = n.input(1 - i);
      const Dims dims = n.output(0)->type.dims();
      if (dims.empty() || !g->type.is_static() || g->type.dims() != dims || up->type.dims() != dims ||
          g->type.dtype != up->type.dtype)
        continue;
      CustomOffer offer = offer_of("SwiGlu", n, gate->nodes);
      offer.nodes.push_back(&n);
      offer.inputs = {g};
      if (const std::string why = cannot_take(swiglu_->info(), offer); !why.empty())
        return missed("SwiGlu", n, why);
      const StridedView view = trace_view(g), other = trace_view(up);
      const std::int64_t apart = other.offset - view.offset, step = view.strides.back();
      const bool parts =
          view.base == other.base && view.dims == other.dims && view.strides == other.strides && apart != 0;
      Dims whole = dims;
      whole.back() *= 2;
      Value *halves = nullptr, *pairs = nullptr;
      if (parts && apart == dims.back() * step) halves = operands_.whole(n, g, view, false, whole);
      if (halves == nullptr && parts && 2 * apart == step && declares(swiglu_->info(), "interleaved"))
        pairs = operands_.whole(n, g, view, true, whole);
      offer.attrs = {{"dim", std::int64_t{-1}}, {"interleaved", std::int64_t{pairs != nullptr ? 1 : 0}}};
      if (pairs != nullptr)
        offer.inputs = {pairs};
      else
        offer.inputs = {halves != nullptr ? halves : operands_.join(n, g, up, false, "gate_up")};
      return take(*swiglu_, offer);
    }
    return false;
  }

  StatusOr<bool> take_pooling(Node& n, const PoolingPattern& p) {
    if (p.shared || p.scores->type.dtype != p.x->type.dtype || !is_closed(p.nodes, n))
      return missed("SoftmaxMulReduceSum", n, "something else reads the weights or the products");
    CustomOffer offer = offer_of("SoftmaxMulReduceSum", n, {p.nodes.rbegin(), p.nodes.rend()});
    offer.attrs = {{"axis", p.axis}};
    offer.needed = {"axis"};
    offer.result = p.x->type.dims();
    offer.result[static_cast<std::size_t>(p.axis)] = 1;
    offer.inputs = {p.scores, p.x};
    if (const std::string why = cannot_take(pooling_->info(), offer); !why.empty())
      return missed("SoftmaxMulReduceSum", n, why);
    Dims weights = p.weights;
    weights.insert(weights.begin(), p.x->type.shape->size() - weights.size(), 1);
    offer.inputs[0] = NodeWriter(graph_, n).reshape(p.scores, weights, "scores");
    return take(*pooling_, offer);
  }

  StatusOr<bool> take(const CustomEntry& entry, const CustomOffer& offer) {
    Node& n = *offer.last;
    if (const std::string why = cannot_take(entry.info(), offer); !why.empty())
      return missed(offer.pattern, n, why);
    ATC_ASSIGN(Node * made, write_custom(graph_, offer, entry, 1, takeover_));
    Value* y = n.output(0);
    replace_value(y, NodeWriter(graph_, n).reshape(made->output(0), y->type.dims(), "result"));
    graph_.erase(&n);
    return true;
  }

  Graph& graph_;
  PassContext& context_;
  CustomTakeover& takeover_;
  CustomOperands operands_;
  const CustomEntry *rope_, *swiglu_, *attention_, *pooling_;
  int changes_ = 0;
};

StatusOr<int> run(Graph& graph, PassContext& context) {
  if (context.custom == nullptr || context.custom->operators.entries.empty()) return 0;
  return Taker(graph, context).run();
}

}  // namespace

Pass custom_subgraphs_pass() {
  return {.name = "custom-subgraphs",
          .summary = "subgraphs that the user's operators compute become these",
          .run = run};
}

}  // namespace atc::passes
