#include "passes/in_place_parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/in_place.h"
#include "ops/input_parts.h"
#include "ops/lower.h"
#include "ops/op.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool joins(const Node& n) { return ops::is_concat(n); }
bool cuts(const Node& n) { return n.is("Split") || n.is("Slice"); }

bool is_lowered(const Node& n) {
  const ops::OpDef* def = ops::Registry::instance().find(n);
  return def != nullptr && def->lower != nullptr && (def->lowers == nullptr || def->lowers(n));
}

class Placer {
 public:
  explicit Placer(Graph& graph) : graph_(graph) {}

  int run() {
    int changes = 0;
    const std::vector<Node*> nodes = graph_.node_list();
    for (Node* n : nodes)
      for (const std::int64_t part : ops::in_place(*n)) placed_.insert(place_of(*n, part));
    for (Node* n : nodes) {
      if ((!joins(*n) && !cuts(*n)) || !has_static_shapes(*n) || !is_lowered(*n)) continue;
      if (joins(*n)) changes += shorten(*n);
      changes += place(*n);
    }
    return changes;
  }

 private:
  static Value* place_of(const Node& n, std::int64_t part) {
    const std::size_t i = static_cast<std::size_t>(part);
    return joins(n) ? ops::shown_value(n.input(i)) : n.output(i);
  }

  /// Concats seen so far, as paths of inputs from the root of their axis and format.
  struct Step {
    std::map<const Value*, std::size_t> next;
    Value* joined = nullptr;  ///< the output of a Concat of the inputs so far
  };

  // Takes the output of the longest earlier Concat of this one's first inputs.
  int shorten(Node& n) {
    if (!ops::in_place(n).empty() || n.attrs.has("parts")) return 0;
    const auto axis = ops::normalize_axis(n.attrs.get_int("axis", 1), std::ssize(n.output(0)->type.dims()));
    if (!axis) return 0;
    auto [root, added] = roots_.try_emplace({*axis, n.output(0)->type.format}, steps_.size());
    if (added) steps_.emplace_back();
    std::size_t at = root->second, taken = 0;
    Value* joined = nullptr;
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      if (i >= 2 && steps_[at].joined != nullptr) {
        joined = steps_[at].joined;
        taken = i;
      }
      auto [step, is_new] = steps_[at].next.try_emplace(n.input(i), steps_.size());
      at = step->second;
      if (is_new) steps_.emplace_back();
    }
    if (steps_[at].joined == nullptr) steps_[at].joined = n.output(0);
    if (joined == nullptr) return 0;
    for (std::size_t i = taken; i < n.inputs().size(); ++i) n.set_input(i - taken + 1, n.input(i));
    n.resize_inputs(n.inputs().size() - taken + 1);
    n.set_input(0, joined);
    return 1;
  }

  int place(Node& n) {
    if (cuts(n) && ops::shown_value(n.input(0))->is_constant()) return 0;
    const auto offsets = ops::part_offsets(n);
    if (!offsets) return 0;
    const Dims before = ops::in_place(n);
    Dims parts = before;
    const std::map<std::size_t, ops::InputPart> read_in_part = ops::input_parts(n);
    for (std::size_t i = 0; i < offsets->size(); ++i)
      if (!ops::is_in_place(before, i) && !read_in_part.contains(i) && can_place(n, i))
        parts.push_back(static_cast<std::int64_t>(i));
    if (parts.size() == before.size()) return 0;
    std::sort(parts.begin(), parts.end());
    ops::set_in_place(n, parts);
    return static_cast<int>(parts.size() - before.size());
  }

  bool can_place(const Node& n, std::size_t i) {
    const Value* part = joins(n) ? n.input(i) : n.output(i);
    const Value* place = place_of(n, static_cast<std::int64_t>(i));
    if (element_count(part->type.dims()) == 0 || graph_.is_output(place) || place->producer() == nullptr)
      return false;
    if (!n.is("Slice")) {
      const Dims strides = ops::storage_strides(joins(n) ? n.output(0) : n.input(0));
      const auto lies = ops::stretches(ops::storage_dims_of(part), strides);
      if (!lies || (lies->count > 1 && (place != part || !ops::may_lie(*part, strides)))) return false;
    }
    // A conversion that is itself a view would have to copy.
    if (place->producer()->is_internal("TransData")) return false;
    return placed_.insert(place).second;
  }

  Graph& graph_;
  std::set<const Value*> placed_;
  std::vector<Step> steps_;
  std::map<std::pair<std::int64_t, ir::Format>, std::size_t> roots_;
};

StatusOr<int> run(Graph& graph, PassContext&) { return Placer(graph).run(); }

}  // namespace

Pass in_place_parts_pass() {
  return {"in-place-parts", "", "parts that Concat joins and Split and Slice cut stay where the whole is",
          run};
}

}  // namespace atc::passes
