#include "passes/attention_masks.h"

#include <algorithm>

#include "ops/op.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr int kOpset = 14;  // of the nodes written here

// What several masks of a kind are together.
class MaskWriter {
 public:
  MaskWriter(Graph& g, const AttentionPattern& p) : graph_(g), pattern_(p) {}

  // The sum of the addends, negative ones negated.
  Value* sum() {
    Value* all = nullptr;
    for (const ScoreAddend& a : pattern_.addends)
      all = joined(all, a.negative ? insert("Neg", {a.value}, a.value->type.dims()) : a.value, "Add");
    return all;
  }

  // One condition as it is; of several, what all of them leave.
  Value* condition() {
    if (pattern_.conditions.size() == 1) return pattern_.conditions[0].value;
    Value* all = nullptr;
    for (const ScoreCondition& c : pattern_.conditions)
      all = joined(all, c.keeps ? c.value : insert("Not", {c.value}, c.value->type.dims()), "And");
    return all;
  }

 private:
  Value* joined(Value* all, Value* v, const char* type) {
    if (all == nullptr) return v;
    return insert(type, {all, v}, ir::to_dims(*ops::broadcast(*all->type.shape, *v->type.shape)));
  }

  Value* insert(const char* type, std::vector<Value*> inputs, const Dims& dims) {
    Node* n = graph_.add_node(type, std::move(inputs), 1, pattern_.product, {}, kOpset);
    n->name = pattern_.product->name + "/mask";
    n->sources = pattern_.product->sources;
    n->output(0)->type = ir::tensor_type(n->input(0)->type.dtype, dims);
    return n->output(0);
  }

  Graph& graph_;
  const AttentionPattern& pattern_;
};

// Two addends, neither of which is subtracted, need no sum.
bool are_apart(const AttentionPattern& p) {
  return p.conditions.empty() && p.addends.size() == 2 && !p.addends[0].negative && !p.addends[1].negative;
}

}  // namespace

bool can_join_masks(const AttentionPattern& p) {
  const auto alike = [](const auto& masks) {
    return std::all_of(masks.begin(), masks.end(),
                       [&](const auto& m) { return m.scores == masks[0].scores; });
  };
  return alike(p.conditions) && (are_apart(p) || alike(p.addends));
}

bool has_bias(const AttentionPattern& p) {
  return are_apart(p) || (!p.conditions.empty() && !p.addends.empty());
}

JoinedMasks join_masks(Graph& g, const AttentionPattern& p) {
  if (are_apart(p)) return {p.addends[0].value, p.addends[1].value, p.addends[0].scores, p.addends[1].scores};
  MaskWriter writer(g, p);
  Value* sum = writer.sum();
  const Dims summed = p.addends.empty() ? Dims{} : p.addends[0].scores;
  if (p.conditions.empty()) return {sum, nullptr, summed, {}};
  return {writer.condition(), sum, p.conditions[0].scores, summed};
}

}  // namespace atc::passes
