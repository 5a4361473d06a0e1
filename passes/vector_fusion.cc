#include "passes/vector_fusion.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ops/body.h"
#include "passes/detached_bodies.h"
#include "passes/reachability.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

struct Group {
  std::vector<Node*> members;  // in topological order
  Dims space;
  Dims reduce_axes;  // negative, from the right
};

std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

// Axes inputs of reductions are read off the node, they are not data.
bool is_parameter(const Node& n, std::size_t i) { return i == 1 && n.op_type.starts_with("Reduce"); }

// Immediates of programs are doubles: 64-bit integers beyond 2^53 stay operands.
bool is_immediate(const Value* v) {
  if (!v->is_constant() || v->constant().count() != 1) return false;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  if (v->type.dtype != DType::I64) return true;
  const std::int64_t x = to_int64s(v->constant())[0];
  return -kExact <= x && x <= kExact;
}

std::optional<Group> single(Node* n) {
  if (!ops::is_vectorizable(*n)) return std::nullopt;
  Group g{{n}, {}, {}};
  for (std::size_t i = 0; i < n->inputs().size(); ++i) {
    const Value* v = n->input(i);
    if (v == nullptr || is_parameter(*n, i) || is_immediate(v)) continue;
    auto space = broadcast_dims(g.space, v->type.dims());
    if (!space) return std::nullopt;
    g.space = *space;
  }
  for (const Value* v : n->outputs()) {
    if (v == nullptr) continue;
    auto space = broadcast_dims(g.space, v->type.dims());
    if (!space) return std::nullopt;
    g.space = *space;
  }
  if (element_count(g.space) == 0) return std::nullopt;
  const Dims axes = *ops::vector_reduce_axes(*n);
  const std::int64_t rank = std::ssize(g.space);
  if (!axes.empty() && std::ssize(n->input(0)->type.dims()) != rank) return std::nullopt;
  for (std::int64_t a : axes) g.reduce_axes.push_back(a - rank);
  return g;
}

// The whole space, or the space with the reduced axes 1.
bool is_storable(const Group& g, const Dims& dims) {
  Dims d = dims;
  d.insert(d.begin(), g.space.size() - d.size(), 1);
  const std::int64_t rank = std::ssize(g.space);
  bool full = true, reduced = true;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::size_t k = static_cast<std::size_t>(i);
    const bool axis = std::find(g.reduce_axes.begin(), g.reduce_axes.end(), i - rank) != g.reduce_axes.end();
    full = full && d[k] == g.space[k];
    reduced = reduced && d[k] == (axis ? 1 : g.space[k]);
  }
  return full || (reduced && !g.reduce_axes.empty());
}

// The weights of a pooling go along the reduced axis alone: the program stores them where it first has them.
bool is_stored_weights(const Node& n, std::size_t output) {
  return n.is_internal("SoftmaxWeightedSum") && output == 1;
}

// Along several reduced axes an operand is there in full or broadcast over all of them.
bool walks_axes_as_one(const Group& g, const Dims& dims) {
  if (g.reduce_axes.size() < 2) return true;
  int ones = 0, others = 0;
  for (std::int64_t a : g.reduce_axes) {
    const std::int64_t at = std::ssize(dims) + a, in_space = std::ssize(g.space) + a;
    const std::int64_t d = at < 0 ? 1 : dims[static_cast<std::size_t>(at)];
    if (g.space[static_cast<std::size_t>(in_space)] == 1) continue;
    ++(d == 1 ? ones : others);
  }
  return ones == 0 || others == 0;
}

class Fuser {
 public:
  enum class Groups { Joined, Single };
  Fuser(Graph& graph, PassContext& context, Groups groups)
      : graph_(graph), detached_(graph), order_(graph), context_(context), joins_(groups == Groups::Joined) {}

  int run() {
    for (Node* n : graph_.node_list()) {
      auto g = single(n);
      if (!g || !is_legal(*g)) continue;
      std::shared_ptr<Group> mine = std::make_shared<Group>(std::move(*g));
      group_of_[n] = mine;
      for (bool joined = joins_; joined;) {
        joined = false;
        for (const auto& other : producers(*mine))
          if (auto merged = join(*other, *mine)) {
            *mine = std::move(*merged);
            for (Node* m : mine->members) group_of_[m] = mine;
            joined = true;
            break;
          }
      }
    }
    if (joins_) tell_near_misses();
    int made = 0;
    std::unordered_set<const Group*> done;
    for (Node* n : graph_.node_list()) {
      auto it = group_of_.find(n);
      if (it == group_of_.end() || !done.insert(it->second.get()).second) continue;
      const std::shared_ptr<Group> group = it->second;
      build(*group);
      ++made;
    }
    ATC_CHECK(graph_.sort(), "vector fusion made a cycle");
    return made;
  }

 private:
  bool contains(const Group& g, const Node* n) const {
    const int at = order_.find(n);
    const auto found = std::lower_bound(g.members.begin(), g.members.end(), at,
                                        [&](const Node* m, int wanted) { return order_.of(m) < wanted; });
    return at >= 0 && found != g.members.end() && *found == n;
  }

  bool leaves(const Group& g, const Value* v) const {
    if (graph_.is_output(v)) return true;
    return std::any_of(v->uses().begin(), v->uses().end(),
                       [&](const Value::Use& u) { return !contains(g, u.node); });
  }

  // `why`: what of it no program can be.
  bool is_legal(const Group& g, std::string* why = nullptr) const;

  // Groups that feed this one, the latest first.
  std::vector<std::shared_ptr<Group>> producers(const Group& g) const {
    std::vector<std::shared_ptr<Group>> out;
    for (const Node* n : g.members)
      for (const Value* v : n->inputs()) {
        if (v == nullptr || v->producer() == nullptr) continue;
        auto it = group_of_.find(v->producer());
        if (it == group_of_.end() || it->second.get() == &g) continue;
        if (std::find(out.begin(), out.end(), it->second) == out.end()) out.push_back(it->second);
      }
    std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
      return order_.of(a->members.back()) > order_.of(b->members.back());
    });
    return out;
  }

  // Normalizations and the like in several programs: what reads a reduction and the value that it reduces.
  void tell_near_misses() {
    std::unordered_set<const Group*> done;
    for (Node* n : graph_.node_list()) {
      const auto found = group_of_.find(n);
      if (found == group_of_.end() || !done.insert(found->second.get()).second) continue;
      for (const auto& other : producers(*found->second)) {
        if (other->reduce_axes.empty() || other->space != found->second->space) continue;
        std::string why;
        join(*other, *found->second, &why);
        if (!why.empty())
          context_.near_miss("AutomaticUbFusion", *found->second->members.front(),
                             "not in one program with " + other->members.back()->label() + ": " + why);
      }
    }
  }

  std::optional<Group> join(const Group& a, const Group& b, std::string* why = nullptr) const {
    const auto refused = [&](std::string reason) {
      if (why != nullptr) *why = std::move(reason);
      return std::nullopt;
    };
    if (a.members.size() + b.members.size() > kMaxProgramNodes)
      return refused("the program would have more than " + std::to_string(kMaxProgramNodes) + " operators");
    auto space = broadcast_dims(a.space, b.space);
    if (!space) return std::nullopt;
    if (!a.reduce_axes.empty() && !b.reduce_axes.empty() && a.reduce_axes != b.reduce_axes)
      return refused("they reduce along other axes");
    Group g;
    g.space = *space;
    g.reduce_axes = a.reduce_axes.empty() ? b.reduce_axes : a.reduce_axes;
    g.members.reserve(a.members.size() + b.members.size());
    std::merge(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
               std::back_inserter(g.members),
               [&](const Node* x, const Node* y) { return order_.of(x) < order_.of(y); });
    if (crosses_storage_point(a, b) || !is_legal(g, why)) return std::nullopt;
    if (passes_outside(a, b)) return refused("a value goes through another operator in between");
    return g;
  }

  // What QuantizeLinear made is stored in 8 bits: a program that ends there can become the epilogue of the
  // product that it reads, and the one that dequantizes follows it there or reads 8 bits. Programs that
  // reduce become no epilogue.
  bool crosses_storage_point(const Group& a, const Group& b) const {
    if (!a.reduce_axes.empty()) return false;
    return std::any_of(b.members.begin(), b.members.end(), [&](const Node* n) {
      const Node* producer = n->is("DequantizeLinear") ? n->input(0)->producer() : nullptr;
      return producer != nullptr && producer->is("QuantizeLinear") && contains(a, producer);
    });
  }

  // Does a value go from `a` through nodes outside both to `b`? Fusing them would make a cycle.
  bool passes_outside(const Group& a, const Group& b) const {
    std::vector<const Node*> start;
    for (const Node* n : b.members)
      for (const Node* p : order_.inputs_of(n))
        if (!contains(a, p) && !contains(b, p)) start.push_back(p);
    return order_.reaches(start, a.members, [&](const Node* n) -> const std::vector<Node*>* {
      auto it = group_of_.find(n);
      return it == group_of_.end() ? nullptr : &it->second->members;
    });
  }

  void build(const Group& g);

  Graph& graph_;
  const DetachedBodies detached_;
  NodeOrder order_;
  PassContext& context_;
  const bool joins_;
  std::unordered_map<const Node*, std::shared_ptr<Group>> group_of_;
};

bool Fuser::is_legal(const Group& g, std::string* why) const {
  const auto refused = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return false;
  };
  if (g.members.size() > kMaxProgramNodes)
    return refused("the program would have more than " + std::to_string(kMaxProgramNodes) + " operators");
  std::set<const Value*> operands;
  for (const Node* n : g.members) {
    const Dims axes = *ops::vector_reduce_axes(*n);
    // Reductions see the whole space.
    if (!axes.empty() && n->input(0)->type.dims() != g.space)
      return refused(n->label() + " does not reduce over the whole space of the program");
    for (std::size_t i = 0; i < n->inputs().size(); ++i) {
      const Value* v = n->input(i);
      if (v == nullptr || is_parameter(*n, i) || is_immediate(v)) continue;
      if (v->producer() != nullptr && contains(g, v->producer())) continue;
      if (!walks_axes_as_one(g, v->type.dims()))
        return refused("operand '" + v->name() + "' is broadcast over a part of the reduced axes");
      operands.insert(v);
    }
    for (std::size_t i = 0; i < n->outputs().size(); ++i) {
      const Value* v = n->output(i);
      if (v == nullptr || !leaves(g, v)) continue;
      if (!is_stored_weights(*n, i) && !is_storable(g, v->type.dims()))
        return refused("'" + v->name() + "', which others read, does not span the space of the program");
      operands.insert(v);
    }
  }
  if (operands.size() > kMaxProgramOperands)
    return refused("the program would have more than " + std::to_string(kMaxProgramOperands) + " operands");
  return true;
}

void Fuser::build(const Group& g) {
  auto body = std::make_shared<Graph>("body");  // attached at the end with all others
  std::map<const Value*, Value*> inside;
  std::vector<Value*> inputs;
  auto import = [&](const Node& n, std::size_t i) -> Value* {
    Value* v = n.input(i);
    if (v == nullptr) return nullptr;
    if (auto it = inside.find(v); it != inside.end()) return it->second;
    if (v->is_constant() && (is_immediate(v) || is_parameter(n, i)))
      return inside[v] = body->add_constant(v->name(), v->constant());
    inputs.push_back(v);
    return inside[v] = body->add_input(v->name(), v->type);
  };
  std::vector<Value*> outputs;
  for (Node* n : g.members) {
    std::vector<Value*> in;
    for (std::size_t i = 0; i < n->inputs().size(); ++i) in.push_back(import(*n, i));
    Node* copy = body->add_node(n->op_type, std::move(in), static_cast<int>(n->outputs().size()), nullptr,
                                n->domain, n->version);
    copy->name = n->name;
    copy->attrs = n->attrs;
    copy->sources = n->sources;
    for (std::size_t i = 0; i < n->outputs().size(); ++i) {
      Value* v = n->output(i);
      if (v == nullptr) continue;
      copy->output(i)->type = v->type;
      copy->output(i)->set_name(v->name());
      inside[v] = copy->output(i);
      if (leaves(g, v)) outputs.push_back(v);
    }
  }
  Node* last = g.members.back();
  Node* fused = graph_.add_node("Fused", inputs, static_cast<int>(outputs.size()), last, "atc", 0);
  fused->name = last->name;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    body->add_output(inside[outputs[i]]);
    fused->output(i)->type = outputs[i]->type;
    replace_value(outputs[i], fused->output(i));
  }
  Dims axes;
  for (std::int64_t a : g.reduce_axes) axes.push_back(a + std::ssize(g.space));
  if (!axes.empty()) fused->attrs.set("reduce_axes", axes);
  fused->attrs.set("body", body);
  for (Node* n : g.members) add_sources(*fused, *n);
  for (auto it = g.members.rbegin(); it != g.members.rend(); ++it) graph_.erase(*it);
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  const int made = Fuser(graph, context, Fuser::Groups::Joined).run();
  for (const auto& n : graph.nodes()) {
    if (!n->is_internal("Fused") || n->attrs.get_graph("body")->node_count() < 2) continue;
    context.fusions.matched(FusionKind::Ub, "AutomaticUbFusion");
    context.fusions.effected(FusionKind::Ub, "AutomaticUbFusion");
  }
  return made;
}

StatusOr<int> run_single(Graph& graph, PassContext& context) {
  return Fuser(graph, context, Fuser::Groups::Single).run();
}

}  // namespace

Pass vector_form_pass() {
  return {"vector-form", "", "what vector fusion left becomes vector programs of one operator", run_single};
}

Pass vector_fusion_pass() {
  return {"vector-fusion", "AutomaticUbFusion", "elementwise operators and reductions become vector programs",
          run};
}

}  // namespace atc::passes
