#include "passes/custom_attention.h"

#include <algorithm>

#include "ops/op.h"
#include "passes/node_writer.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

/// A score that a condition replaces by less than this weighs nothing, as one to which this is added.
constexpr double kHidden = -1e30;

/// [batch, heads, rows, columns] whatever leading axes there are.
Dims as_heads(Dims dims) {
  while (dims.size() < 4) dims.insert(dims.begin(), 1);
  while (dims.size() > 4) {
    dims[1] *= dims[0];
    dims.erase(dims.begin());
  }
  return dims;
}

class Operands {
 public:
  Operands(ir::Graph& graph, Node& n) : w_(graph, n) {}

  Value* expand(Value* v, const Dims& dims, const std::string& suffix) {
    if (v->type.dims() == dims) return v;
    Node* n = w_.insert("Expand", {v, w_.int64s(dims, suffix + "_dims")},
                        ir::tensor_type(v->type.dtype, dims), suffix + "_expanded");
    return n->output(0);
  }

  /// With the leading axes of the scores, joined to batch and heads.
  Value* heads(Value* v, const Dims& scores, const std::string& suffix) {
    Dims dims = scores;
    const Dims own = v->type.dims();
    std::copy(own.end() - 2, own.end(), dims.end() - 2);
    return w_.reshape(expand(v, dims, suffix), as_heads(dims), suffix);
  }

  Value* transposed(Value* v, const std::string& suffix) {
    Dims dims = v->type.dims(), perm(dims.size());
    for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    Node* t = w_.insert("Transpose", {v}, ir::tensor_type(v->type.dtype, dims), suffix);
    t->attrs.set("perm", perm);
    return t->output(0);
  }

  /// What is added to the scores.
  Value* mask(const AttentionPattern& p) {
    Value* sum = nullptr;
    const auto add = [&](Value* v) {
      if (sum == nullptr) {
        sum = v;
        return;
      }
      const auto dims = ops::broadcast(*sum->type.shape, *v->type.shape);
      sum = w_.insert("Add", {sum, v}, ir::tensor_type(v->type.dtype, ir::to_dims(*dims)), "mask_sum")
                ->output(0);
    };
    for (const ScoreCondition& c : p.conditions) {
      Value* zero = w_.scalar(0, p.q->type.dtype, "shown");
      Value* fill = w_.scalar(p.fill, p.q->type.dtype, "hidden");
      add(w_.insert("Where", {c.value, c.keeps ? zero : fill, c.keeps ? fill : zero},
                    ir::tensor_type(p.q->type.dtype, c.value->type.dims()), "mask")
              ->output(0));
    }
    for (const ScoreAddend& a : p.addends)
      add(a.negative ? w_.unary("Neg", a.value, "mask_negated") : a.value);
    return sum;
  }

  NodeWriter& writer() { return w_; }

 private:
  NodeWriter w_;
};

/// The leading axes broadcast to those of the scores.
bool has_heads_of(const Value* v, const Dims& scores) {
  const Dims dims = v->type.dims();
  if (dims.size() > scores.size() || dims.size() < 2) return false;
  const std::size_t missing = scores.size() - dims.size();
  for (std::size_t i = 0; i + 2 < dims.size(); ++i)
    if (dims[i] != 1 && dims[i] != scores[i + missing]) return false;
  return true;
}

bool broadcasts(const Value* v, const Dims& scores) {
  if (!v->type.is_static()) return false;
  const auto both = ops::broadcast(*v->type.shape, *ir::tensor_type(v->type.dtype, scores).shape);
  return both && ir::to_dims(*both) == scores;
}

std::string refusal(const AttentionPattern& p) {
  for (const Node* n : p.nodes)
    if (!has_static_shapes(*n)) return "the shapes of " + n->label() + " are not known";
  if (p.q->type.dtype != p.k->type.dtype || p.q->type.dtype != p.v->type.dtype)
    return "queries, keys and values are of several types";
  if (p.hidden_rows_are_zero) return "rows that see nothing become zero";
  if (!p.conditions.empty() && p.fill > kHidden) return "hidden scores become another number than -infinity";
  for (const Value* v : {p.q, p.k, p.v})
    if (!has_heads_of(v, p.scores)) return "leading axes are joined between the product and the softmax";
  for (const ScoreAddend& a : p.addends)
    if (a.value->type.dtype != p.q->type.dtype || !broadcasts(a.value, p.scores))
      return "the mask is of another type, or does not broadcast to the scores";
  for (const ScoreCondition& c : p.conditions)
    if (!broadcasts(c.value, p.scores)) return "the condition does not broadcast to the scores";
  return {};
}

}  // namespace

std::string offer_attention(ir::Graph& graph, const AttentionPattern& p, const custom::OpInfo& op,
                            CustomOffer& offer) {
  if (const std::string why = refusal(p); !why.empty()) return why;
  Node& last = *p.product;
  offer.pattern = "Attention";
  offer.last = &last;
  offer.nodes = p.nodes;
  offer.attrs = {{"scale", static_cast<float>(p.scale)}, {"softcap", static_cast<float>(p.softcap)}};
  offer.needed = {"scale"};
  if (p.softcap != 0) offer.needed.emplace_back("softcap");
  const bool masked = !p.conditions.empty() || !p.addends.empty();
  offer.inputs.resize(masked ? 4 : 3, p.q);
  offer.result = as_heads(last.output(0)->type.dims());
  if (const std::string why = cannot_take(op, offer); !why.empty()) return why;
  Operands o(graph, last);
  Value* k = p.k_is_transposed ? o.transposed(p.k, "keys") : p.k;
  offer.inputs[0] = o.heads(p.q, p.scores, "q");
  offer.inputs[1] = o.heads(k, p.scores, "k");
  offer.inputs[2] = o.heads(p.v, p.scores, "v");
  if (!masked) return {};
  Value* mask = o.mask(p);
  // Where axes in front of the heads are joined, those of the mask must be there.
  if (p.scores.size() > 4)
    mask = o.writer().reshape(o.expand(mask, p.scores, "mask"), as_heads(p.scores), "mask_heads");
  offer.inputs[3] = mask;
  return {};
}

}  // namespace atc::passes
