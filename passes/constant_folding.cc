#include "passes/constant_folding.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "ops/op.h"
#include "passes/constant_evaluator.h"
#include "passes/inline_branch.h"
#include "passes/needed_constants.h"
#include "passes/operator_check.h"
#include "passes/shape_inference.h"

namespace atc::passes {
namespace {

constexpr std::string_view kName = "constant-folding";

class Folder {
 public:
  Folder(ir::Graph& root, bool keep_dequantize, bool all)
      : inference_(root), evaluator_(root, keep_dequantize), folds_all_(all) {}
  /// Types set anew count too.
  int changes() const { return changes_ + inference_.changes(); }

  Status fold(ir::Graph& graph) {
    std::optional<NeededConstants> needed;
    if (!folds_all_) needed.emplace(graph);
    const std::vector<ir::Node*> nodes = graph.node_list();
    std::deque<ir::Node*> work(nodes.begin(), nodes.end());
    while (!work.empty()) {
      ir::Node* node = work.front();
      work.pop_front();
      if (const auto branch = constant_branch(*node); branch != nullptr) {
        const std::vector<ir::Node*> inlined = inline_branch(node, branch);
        work.insert(work.begin(), inlined.begin(), inlined.end());
        ++changes_;
        continue;
      }
      if (ops::Registry::instance().find(*node) == nullptr) return check_operators(graph);
      ATC_TRY(inference_.infer(*node));
      // Bodies of our own operators are folded when they become what they are.
      if (node->domain != "atc")
        for (const auto& body : ir::subgraphs(*node)) {
          Status folded = fold(*body);
          // A branch that does not fit may never be taken (see the inference of If).
          if (!folded.ok() && !node->is("If")) return folded;
        }
      fold_outputs(*node, !needed || needed->contains(*node));
    }
    return {};
  }

 private:
  void fold_outputs(ir::Node& node, bool evaluates) {
    for (std::size_t i = 0; i < node.outputs().size(); ++i)
      if (ir::Value* v = node.output(i)) fold_known_elements(v);
    const auto left = [](const ir::Value* v) { return v != nullptr; };
    if (!evaluates || std::none_of(node.outputs().begin(), node.outputs().end(), left)) return;
    auto results = evaluator_.fold(node);
    if (!results) return;
    for (std::size_t i = 0; i < node.outputs().size(); ++i)
      if (ir::Value* v = node.output(i)) make_constant(v, std::move((*results)[i]));
  }

  /// A list of plain integers needs no data to be known.
  void fold_known_elements(ir::Value* v) {
    const ir::Shape* elements = inference_.elements(v);
    if (elements == nullptr || !is_integer(v->type.dtype) || v->type.format != ir::Format::ND) return;
    if (!v->type.is_static() || element_count(v->type.dims()) != static_cast<std::int64_t>(elements->size()))
      return;
    std::vector<std::int64_t> values;
    for (const ir::Dim& d : *elements) {
      if (!d.symbol.empty()) return;
      values.push_back(d.value);
    }
    make_constant(v, from_int64s(v->type.dtype, v->type.dims(), values));
  }

  void make_constant(ir::Value* v, Tensor tensor) {
    v->graph()->make_constant(v, std::move(tensor));
    ++changes_;
  }

  ShapeInference inference_;
  ConstantEvaluator evaluator_;
  const bool folds_all_;
  int changes_ = 0;
};

StatusOr<int> fold_graph(ir::Graph& graph, bool keep_dequantize, const PassContext& context) {
  // What a branch not taken contains does not matter: conditionals are looked at when all is folded.
  ATC_TRY(check_operators(graph, Conditionals::Skip));
  const auto& switches = context.options.switches.passes;
  const auto named = switches.find(kName);
  Folder folder(graph, keep_dequantize, named == switches.end() || named->second);
  ATC_TRY(folder.fold(graph));
  if (folder.changes() > 0) graph.sweep();
  return folder.changes();
}

StatusOr<int> run(ir::Graph& graph, PassContext& context) { return fold_graph(graph, false, context); }
StatusOr<int> run_keeping(ir::Graph& graph, PassContext& context) { return fold_graph(graph, true, context); }

}  // namespace

Pass early_constant_folding_pass() {
  Pass pass = constant_folding_pass();
  pass.run = run_keeping;
  return pass;
}

Pass constant_folding_pass() {
  return {.name = kName, .summary = "Replaces what does not depend on the inputs by constants", .run = run};
}

}  // namespace atc::passes
