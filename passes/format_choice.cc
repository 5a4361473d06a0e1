#include "passes/format_choice.h"

#include <algorithm>

#include "passes/blocked_channels.h"
#include "passes/min_cut.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Format;
using ir::Graph;
using ir::Node;
using ir::Value;

// What launching a conversion costs, as the bytes that Global Memory moves in that time.
constexpr std::int64_t kLaunchBytes = 1 << 20;
// Costs beyond this are capped: their sum stays far below MinCut::kInfinite.
constexpr std::int64_t kMostCost = std::int64_t{1} << 40;

bool has_blocked_rank(const Value& v) {
  return v.type.is_static() && v.type.shape->size() >= 3 && v.type.shape->size() <= 5;
}

std::int64_t bytes_in(const Value& v, Format format) {
  const Dims dims = v.type.dims();
  return element_count(ir::storage_dims(format, v.type.dtype, dims)) * bit_width(v.type.dtype) / 8;
}

std::int64_t capped(std::int64_t cost) { return std::clamp<std::int64_t>(cost, 0, kMostCost); }

// The same bytes in both formats.
bool is_view(const Value& v) {
  const Dims d = v.type.dims();
  return element_count(Dims(d.begin() + 2, d.end())) == 1 && d[1] % ir::c0_of(v.type.dtype) == 0;
}

std::int64_t turning_cost(const Value& v) { return is_view(v) ? 0 : capped(bytes_in(v, Format::ND)); }

bool is_taken_over(const Graph& g, const Value& v) {
  if (v.uses().size() != 1 || g.is_output(&v)) return false;
  return (v.producer() != nullptr && mixes_formats(*v.producer())) || mixes_formats(*v.uses().front().node);
}

std::int64_t conversion_cost(const Graph& g, const Value& v) {
  if (v.is_constant() || is_view(v)) return 0;
  if (is_taken_over(g, v)) return turning_cost(v);
  return capped(bytes_in(v, Format::ND) + bytes_in(v, Format::NC1HWC0) + kLaunchBytes);
}

std::int64_t padding_cost(const Value& v) {
  return capped(bytes_in(v, Format::NC1HWC0) - bytes_in(v, Format::ND));
}

// Outputs of a transposed convolution lie `stride` positions apart: in ND no two are neighbours.
bool stores_rows(const Node& n) {
  const Dims strides = n.attrs.get_ints("strides");
  return n.op_type != "ConvTranspose" || strides.empty() || strides.back() == 1;
}

// A convolution of one group whose weights can be packed for blocks of four channels.
bool has_small_channels(const Node& n) {
  const ir::TensorType& x = n.input(0)->type;
  return n.is_internal("Conv") && n.attrs.get_int("group", 1) == 1 && n.input(1)->is_constant() &&
         has_blocked_rank(*n.input(0)) && x.dims()[1] <= ir::c0_of(Format::NC1HWC0_C04, x.dtype);
}

// The convolutions that read NC1HWC0_C04: no other kind of window wants their input in NC1HWC0.
std::set<const Node*> small_readers(const Graph& g) {
  std::map<const Value*, bool> is_small;
  for (const auto& n : g.nodes()) {
    if (!works_on_blocks(*n)) continue;
    const bool small = has_small_channels(*n);
    const auto [it, is_new] = is_small.try_emplace(n->input(0), small);
    it->second = it->second && small;
  }
  std::set<const Node*> out;
  for (const auto& n : g.nodes())
    if (works_on_blocks(*n) && is_small.at(n->input(0))) out.insert(n.get());
  return out;
}

class Chooser {
 public:
  Chooser(const Graph& graph, const std::set<const Node*>& small)
      : graph_(graph), small_(small), source_(cut_.add_node()), sink_(cut_.add_node()) {}

  void build() {
    for (const Value* v : graph_.inputs()) vertex_[v] = sink_;
    for (const auto& n : graph_.nodes()) add(*n);
    for (const Value* v : graph_.outputs()) read(v, sink_);
  }

  std::vector<bool> solve() { return cut_.source_side(source_, sink_); }
  int vertex_of(const Value* v) const {
    const auto it = vertex_.find(v);
    return it == vertex_.end() ? -1 : it->second;
  }
  int vertex_of(const Node* n) const {
    const auto it = carrier_.find(n);
    return it == carrier_.end() ? -1 : it->second;
  }

 private:
  void add(const Node& n) {
    if (works_on_blocks(n)) return add_window(n);
    int mine = sink_;
    if (has_static_shapes(n) && carries_blocked_channels(n)) mine = carrier_[&n] = cut_.add_node();
    for (const Value* v : n.outputs())
      if (v != nullptr) vertex_[v] = mine;
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.input(i);
      if (v == nullptr) continue;
      // Operands of fewer axes are converted as such, from ND.
      const bool with_node = mine != sink_ && is_operand(n, i) && v->type.shape->size() == rank_of(n);
      read(v, with_node ? mine : sink_);
    }
  }

  // Input 0 is in blocks; what the epilogue reads and stores may be in either format.
  void add_window(const Node& n) {
    for (const Value* v : n.outputs()) {
      if (v == nullptr) continue;
      const int mine = vertex_[v] = cut_.add_node();
      const bool must_block = !stores_rows(n);
      cut_.add_edge(source_, mine, must_block ? MinCut::kInfinite : turning_cost(*v));
      if (const std::int64_t padding = padding_cost(*v); padding > 0) cut_.add_edge(mine, sink_, padding);
    }
    read(n.input(0), small_.contains(&n) ? sink_ : source_);
    for (std::size_t i = 1; i < n.inputs().size(); ++i) {
      const Value* v = n.input(i);
      if (v == nullptr || v->is_constant() || !is_operand(n, i)) continue;
      if (v->type.shape->size() != rank_of(n) || (i == 1 && has_weight(n))) {
        read(v, sink_);
      } else if (const int p = vertex_of(v); p >= 0 && p != sink_) {
        cut_.add_edge(source_, p, turning_cost(*v));
      }
    }
  }

  static bool is_operand(const Node& n, std::size_t i) {
    const Value* v = n.input(i);
    return v != nullptr && !is_parameter(n, i) && !is_single_operand(n, i) && has_blocked_rank(*v);
  }

  // `v` is read by what vertex `reader` stands for.
  void read(const Value* v, int reader) {
    if (v->is_constant() || !has_blocked_rank(*v)) return;
    const int p = vertex_of(v);
    if (p < 0 || p == reader) return;
    const std::int64_t cost = conversion_cost(graph_, *v);
    if (reader == sink_ || reader == source_) {
      // Several of them share the conversion.
      if (!fixed_reads_.insert({v, reader}).second) return;
    }
    auto [it, is_new] = reads_.try_emplace(v);
    if (is_new) {
      it->second = {cut_.add_node(), cut_.add_node()};
      cut_.add_edge(p, it->second.first, cost);
      cut_.add_edge(it->second.second, p, cost);
    }
    cut_.add_edge(it->second.first, reader, MinCut::kInfinite);
    cut_.add_edge(reader, it->second.second, MinCut::kInfinite);
  }

  const Graph& graph_;
  const std::set<const Node*>& small_;
  MinCut cut_;
  int source_, sink_;
  std::map<const Value*, int> vertex_;
  std::map<const Node*, int> carrier_;
  std::map<const Value*, std::pair<int, int>> reads_;  // read in ND, read in NC1HWC0
  std::set<std::pair<const Value*, int>> fixed_reads_;
};

}  // namespace

bool works_on_blocks(const Node& n) {
  return n.domain == "atc" && n.attrs.has("epilogue") && n.op_type != "MatMul";
}

bool has_weight(const Node& n) {
  return works_on_blocks(n) &&
         (n.op_type == "Conv" || n.op_type == "ConvTranspose" || n.op_type == "DepthwiseConv");
}

std::size_t rank_of(const Node& n) {
  for (const Value* v : n.outputs())
    if (v != nullptr) return v->type.shape->size();
  return 0;
}

bool is_single_operand(const Node& n, std::size_t input) {
  const Value* v = n.input(input);
  return n.domain == "atc" && v->type.is_static() && element_count(v->type.dims()) == 1 &&
         !(works_on_blocks(n) && input == 0);
}

bool mixes_formats(const Node& n) {
  if (!n.is_internal("Fused") || n.outputs().size() != 1 || !has_static_shapes(n) ||
      !carries_blocked_channels(n))
    return false;
  const ir::TensorType& out = n.output(0)->type;
  const std::int64_t channels = out.dims()[1], c0 = ir::c0_of(out.dtype);
  return channels <= c0 || channels % c0 == 0;
}

FormatChoice::FormatChoice(const Graph& graph) : small_(small_readers(graph)) {
  Chooser chooser(graph, small_);
  chooser.build();
  const std::vector<bool> blocked = chooser.solve();
  const auto is_on = [&](int vertex) { return vertex >= 0 && blocked[static_cast<std::size_t>(vertex)]; };
  for (const auto& n : graph.nodes()) {
    for (const Value* v : n->outputs())
      if (v != nullptr && has_blocked_rank(*v) && is_on(chooser.vertex_of(v))) blocked_.insert(v);
    if (is_on(chooser.vertex_of(n.get()))) carriers_.insert(n.get());
  }
}

}  // namespace atc::passes
