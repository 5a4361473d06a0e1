#include "passes/attention_near_miss.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "passes/match.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr std::size_t kLongestChain = 12;

const Node* maker(const Value* v) { return v == nullptr ? nullptr : v->producer(); }

bool is_one_of(const Node& n, std::initializer_list<std::string_view> types) {
  return std::any_of(types.begin(), types.end(), [&](std::string_view t) { return n.is(t); });
}

// From the node that makes the softmax's input back to the product of queries and keys; empty: there is none.
bool find_scores(const Node* n, std::vector<const Node*>& chain, std::set<const Node*>& seen) {
  if (n == nullptr || !n->domain.empty() || chain.size() >= kLongestChain) return false;
  if (!seen.insert(n).second) return false;
  chain.push_back(n);
  if (n->is("MatMul")) {
    if (!n->input(0)->is_constant() && !n->input(1)->is_constant()) return true;
  } else if (is_one_of(*n, {"Add", "Cast", "Clip", "Div", "Expand", "Max", "Min", "Mul", "Reshape", "Squeeze",
                            "Sub", "Tanh", "Transpose", "Unsqueeze", "Where"})) {
    for (const Value* v : n->inputs())
      if (find_scores(maker(v), chain, seen)) return true;
  }
  chain.pop_back();
  return false;
}

std::string blocked_by(const std::vector<const Node*>& chain) {
  for (const Node* n : chain) {
    if (!is_private(n->output(0)))
      return "the result of " + n->label() + ", which it would not write, has other readers";
    if (n->is("MatMul")) break;
    if (!is_one_of(*n, {"Add", "Cast", "Div", "Mul", "Reshape", "Sub", "Tanh", "Where"}))
      return n->label() + " stands between the scores and the softmax: the kernel has no form for it";
    const bool scales = is_one_of(*n, {"Mul", "Div"});
    const auto is_scalar = [](const Value* v) { return v->is_constant() && v->constant().count() == 1; };
    if (scales && !is_scalar(n->input(1)) && !(n->is("Mul") && is_scalar(n->input(0))))
      return n->label() + " scales the scores by a tensor: the kernel takes one number";
  }
  return "the scores are scaled, masked or reshaped in an order that the kernel has no form for";
}

}  // namespace

std::string attention_near_miss(const Node& product) {
  const Value* weights = product.input(0);
  std::vector<const Node*> behind;
  while (maker(weights) != nullptr && is_one_of(*maker(weights), {"Cast", "Reshape"})) {
    behind.push_back(maker(weights));
    weights = maker(weights)->input(0);
  }
  const Node* softmax = maker(weights);
  if (softmax == nullptr || !softmax->is("Softmax") || !softmax->input(0)->type.shape) return "";
  std::vector<const Node*> chain;
  std::set<const Node*> seen;
  if (!find_scores(maker(softmax->input(0)), chain, seen)) return "";
  behind.push_back(softmax);
  for (const Node* n : behind)
    if (!is_private(n->output(0))) return "the weights that " + n->label() + " makes have other readers";
  if (softmax_axis(*softmax) != std::ssize(*softmax->input(0)->type.shape) - 1)
    return softmax->label() + " is not along the last axis";
  return blocked_by(chain);
}

}  // namespace atc::passes
