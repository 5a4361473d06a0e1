// The simplifying passes on random graphs of operators that move elements: every bit stays, a second run
// finds nothing, and there is much to do.
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/reshape_algebra.h"
#include "passes/shape_inference.h"
#include "passes/slice_algebra.h"
#include "passes/transpose_motion.h"
#include "simplify_testing.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

class Movers {
 public:
  Movers(unsigned seed, ir::Graph& graph) : rng_(seed), graph_(graph) {
    values_.push_back(graph.add_input("x", ir::tensor_type(DType::F32, {2, 3, 4})));
    values_.push_back(graph.add_input("z", ir::tensor_type(DType::F32, {3, 1, 2, 4})));
  }

  void add() {
    Value* x = any();
    const Dims d = x->type.dims();
    switch (below(11)) {
      case 0:
      case 1:
        return transpose(x, d);
      case 2:
      case 3:
        return reshape(x, d);
      case 4:
        return slice(x, d);
      case 5:
        return split(x, d);
      case 6:
        return concat(x, d);
      case 7:
        return gather(x, d);
      case 8:
        return keep(node(below(2) == 0 ? "Relu" : "Neg", {x}));
      case 9: {
        Node* n = node("ReduceMax", {x});
        n->attrs.set("axes", Dims{static_cast<std::int64_t>(below(d.size()))});
        return keep(n);
      }
      default:
        return binary(x, d);
    }
  }

  Value* any() { return values_[values_.size() - 1 - below(std::min<std::size_t>(values_.size(), 6))]; }

 private:
  std::size_t below(std::size_t n) { return rng_() % std::max<std::size_t>(n, 1); }

  Node* node(const std::string& type, std::vector<Value*> inputs, int outputs = 1) {
    Node* n = graph_.add_node(type, std::move(inputs), outputs, nullptr, "", 13);
    n->name = type + std::to_string(n->id());
    n->sources = {n->name};
    return n;
  }
  Value* list(const Dims& values) {
    return graph_.add_constant("", from_int64s(DType::I64, {std::ssize(values)}, values));
  }
  void keep(Node* n) {
    ShapeInference inference(graph_);
    const Status status = inference.infer(*n);
    ASSERT_TRUE(status.ok()) << status.to_string();
    for (Value* v : n->outputs())
      if (!v->type.shape->empty() && v->type.shape->size() < 6 && element_count(v->type.dims()) <= 200)
        values_.push_back(v);
  }

  void transpose(Value* x, const Dims& d) {
    Dims perm;
    for (std::size_t i = 0; i < d.size(); ++i) perm.push_back(static_cast<std::int64_t>(i));
    std::shuffle(perm.begin(), perm.end(), rng_);
    Node* n = node("Transpose", {x});
    n->attrs.set("perm", perm);
    keep(n);
  }
  void reshape(Value* x, const Dims& d) {
    Dims to = d;
    const std::size_t at = below(d.size());
    if (below(2) == 0 && at + 1 < to.size()) {
      to[at] *= to[at + 1];
      to.erase(to.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else {
      const std::int64_t part = to[at] % 2 == 0 ? 2 : 1;
      to[at] /= part;
      to.insert(to.begin() + static_cast<std::ptrdiff_t>(at + below(2)), part);
    }
    keep(node("Reshape", {x, list(to)}));
  }
  void slice(Value* x, const Dims& d) {
    const std::size_t at = below(d.size());
    const auto length = static_cast<std::size_t>(d[at]);
    const auto start = static_cast<std::int64_t>(below(length));
    const bool back = below(5) == 0;
    const std::int64_t end = back ? INT64_MIN : start + 1 + static_cast<std::int64_t>(below(length));
    keep(node("Slice", {x, list({start}), list({end}), list({static_cast<std::int64_t>(at)}),
                        list({back ? -1 : 1 + static_cast<std::int64_t>(below(2))})}));
  }
  void split(Value* x, const Dims& d) {
    const std::size_t at = below(d.size());
    if (d[at] < 2) return;
    const std::int64_t first = 1 + static_cast<std::int64_t>(below(static_cast<std::size_t>(d[at] - 1)));
    Node* n = node("Split", {x, list({first, d[at] - first})}, 2);
    n->attrs.set("axis", static_cast<std::int64_t>(at));
    keep(n);
    if (below(3) != 0) return;
    Node* joined = node("Concat", {n->output(0), n->output(1)});
    joined->attrs.set("axis", static_cast<std::int64_t>(at));
    keep(joined);
  }
  void concat(Value* x, const Dims& d) {
    const std::size_t at = below(d.size());
    std::vector<Value*> parts = {x};
    for (Value* v : values_) {
      Dims other = v->type.dims();
      if (other.size() != d.size() || parts.size() == 3) continue;
      other[at] = d[at];
      if (other == d) parts.push_back(v);
    }
    Node* n = node("Concat", parts);
    n->attrs.set("axis", static_cast<std::int64_t>(at));
    keep(n);
  }
  void gather(Value* x, const Dims& d) {
    const std::size_t at = below(d.size());
    const auto index = static_cast<std::int64_t>(below(static_cast<std::size_t>(d[at])));
    Value* v =
        below(2) == 0 ? list({index}) : graph_.add_constant("", from_int64s(DType::I64, {}, Dims{index}));
    Node* n = node("Gather", {x, v});
    n->attrs.set("axis", static_cast<std::int64_t>(at));
    if (d.size() > 1 || v->type.shape->size() == 1) keep(n);
  }
  void binary(Value* x, const Dims& d) {
    for (std::size_t i = values_.size(); i-- > 0;)
      if (values_[i]->type.dims() == d) return keep(node("Add", {x, values_[i]}));
  }

  std::mt19937 rng_;
  ir::Graph& graph_;
  std::vector<Value*> values_;
};

std::unique_ptr<ir::Graph> random_movers(unsigned seed) {
  auto graph = std::make_unique<ir::Graph>("random");
  Movers movers(seed, *graph);
  for (int i = 0; i < 30; ++i) movers.add();
  for (int i = 0; i < 3; ++i) {
    Value* v = movers.any();
    Node* out = graph->add_node("Relu", {v}, 1, nullptr, "", 13);
    out->output(0)->type = v->type;
    out->output(0)->set_name("out" + std::to_string(i));
    graph->add_output(out->output(0));
  }
  graph->sweep();
  return graph;
}

TEST(RandomMovers, EachPassKeepsEveryBit) {
  const std::vector<Pass> passes = {reshape_algebra_pass(), slice_algebra_pass(), transpose_motion_pass()};
  std::vector<int> changes(passes.size(), 0);
  for (unsigned seed = 0; seed < 250; ++seed) {
    const auto graph = random_movers(seed);
    const std::vector<Tensor> inputs = small_integers(*graph, seed);
    const auto expected = reference_run(*graph, inputs);
    for (std::size_t p = 0; p < passes.size(); ++p) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(passes[p].name));
      const auto copy = graph->clone();
      PassContext context;
      const auto made = passes[p].run(*copy, context);
      ASSERT_TRUE(made.ok());
      changes[p] += *made;
      ASSERT_EQ(ir::verify(*copy), "");
      expect_same_tensors(expected, reference_run(*copy, inputs));
      const std::string once = ir::print(*copy);
      const auto again = passes[p].run(*copy, context);
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(*again, 0) << ir::print(*graph);
      EXPECT_EQ(ir::print(*copy), once);
    }
  }
  for (std::size_t p = 0; p < passes.size(); ++p)
    EXPECT_GT(changes[p], 100) << passes[p].name << " has too little to do";
}

TEST(RandomMovers, TogetherTheyEndAndLeaveLess) {
  std::size_t before = 0, after = 0;
  for (unsigned seed = 1000; seed < 1100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto graph = random_movers(seed);
    const std::vector<Tensor> inputs = small_integers(*graph, seed);
    const auto expected = reference_run(*graph, inputs);
    before += graph->node_count();
    PassContext context;
    PassManager manager(simplifying_passes(), {.verify_each = true});
    ASSERT_TRUE(manager.run(*graph, context).ok());
    // Far from the bound on rounds: nothing undoes what another pass does.
    EXPECT_LE(manager.records().size(), 5 * simplifying_passes().size());
    after += graph->node_count();
    expect_same_tensors(expected, reference_run(*graph, inputs));
  }
  EXPECT_LT(after, before);
}

}  // namespace
}  // namespace atc::passes
