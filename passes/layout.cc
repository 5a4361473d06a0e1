#include "passes/layout.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "atc/base/math.h"
#include "ops/body.h"
#include "passes/blocked_channels.h"
#include "passes/format_choice.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Format;
using ir::Graph;
using ir::Node;
using ir::Value;

// ND -> blocks of channels at compile time; `dims` is the logical shape of rank >= 3. Unused lanes are zero.
Tensor blocked(const Tensor& t, const Dims& dims, Format format) {
  const Dims storage = ir::storage_dims(format, t.dtype, dims);
  MutableTensor out(t.dtype, storage);
  const std::size_t e = static_cast<std::size_t>(bit_width(t.dtype) / 8);
  const std::int64_t c0 = storage.back(), c1 = storage[1];
  std::int64_t spatial = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) spatial *= dims[i];
  for (std::int64_t n = 0; n < dims[0]; ++n)
    for (std::int64_t c = 0; c < dims[1]; ++c)
      for (std::int64_t s = 0; s < spatial; ++s)
        std::memcpy(out.bytes().data() +
                        static_cast<std::size_t>(((n * c1 + c / c0) * spatial + s) * c0 + c % c0) * e,
                    t.data.data() + static_cast<std::size_t>((n * dims[1] + c) * spatial + s) * e, e);
  return std::move(out).freeze();
}

class FormatSetter {
 public:
  explicit FormatSetter(Graph& graph) : graph_(graph), choice_(graph) {}

  int run() {
    for (Node* n : graph_.node_list()) {
      set_inputs(*n);
      for (Value* v : n->outputs())
        if (v != nullptr && choice_.is_blocked(v)) v->type.format = Format::NC1HWC0;
    }
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) restore_output(i);
    for (Node* n : graph_.node_list())
      if (n->is_internal("TransData") && !n->attrs.has("packing") &&
          (stored_by_producer(*n) || stored_by_program(*n) || read_by_program(*n)))
        graph_.erase(n);
    return changes_;
  }

 private:
  void set_inputs(Node& n) {
    const bool window = works_on_blocks(n);
    const bool blocked = window || choice_.carries_blocked(&n);
    if (n.is_internal("TransData") && !n.attrs.has("packing")) return;
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.input(i);
      if (v == nullptr) continue;
      if (!blocked || (i == 1 && has_weight(n))) {
        if (v->type.format == Format::NC1HWC0) require(n, i, Format::ND, 0);
        continue;
      }
      if (is_parameter(n, i)) continue;
      // Single values are broadcast from ND: in blocks they would stand in one lane of sixteen.
      if (is_single_operand(n, i)) {
        require(n, i, Format::ND, 0);
        continue;
      }
      const std::size_t rank = rank_of(n);
      if (v->type.dims().size() < rank) require(n, i, Format::ND, 0);
      // What an epilogue reads besides may be in either format.
      const bool small = i == 0 && choice_.reads_small_blocks(&n);
      if (!window || i == 0 || v->is_constant())
        require(n, i, small ? Format::NC1HWC0_C04 : Format::NC1HWC0, rank);
    }
  }

  void require(Node& n, std::size_t i, Format format, std::size_t rank) {
    n.set_input(i, converted(n.input(i), format, rank, &n));
  }

  // `v` in the format, with leading 1s up to the rank (0: its own).
  Value* converted(Value* v, Format format, std::size_t rank, Node* before) {
    Dims dims = v->type.dims();
    if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
    if (v->type.format == format && dims.size() == v->type.shape->size()) return v;
    Value*& out = converted_[{v, format, dims.size()}];
    if (out != nullptr) return out;
    ++changes_;
    if (v->is_constant() && ir::has_channel_blocks(format)) {
      out = graph_.add_constant(v->name(), blocked(v->constant(), dims, format), format);
      out->type = ir::tensor_type(v->type.dtype, dims, format);
      return out;
    }
    Node* t = graph_.add_node("TransData", {v}, 1, before, "atc", 0);
    t->name = v->name() + "/trans_data";
    if (v->producer() != nullptr) t->sources = v->producer()->sources;
    t->output(0)->type = ir::tensor_type(v->type.dtype, dims, format);
    out = t->output(0);
    return out;
  }

  void restore_output(std::size_t i) {
    Value* v = graph_.outputs()[i];
    if (v->type.format == Format::ND) return;
    Value* nd = converted(v, Format::ND, 0, nullptr);
    if (graph_.is_output(nd)) return;
    const std::string name = v->name();
    v->set_name(name + "/blocked");
    nd->set_name(name);
    for (std::size_t k = i; k < graph_.outputs().size(); ++k)
      if (graph_.outputs()[k] == v) graph_.set_output(k, nd);
  }

  bool only_reader(const Value& v, const Node& reader) const {
    return v.uses().size() == 1 && v.uses().front().node == &reader && !graph_.is_output(&v);
  }

  // x -> window or program -> v: ND -> TransData -> NC1HWC0_C04: it stores small blocks.
  bool stored_by_producer(Node& conversion) {
    Value* v = conversion.input(0);
    Value* to = conversion.output(0);
    if (to->type.format != Format::NC1HWC0_C04 || v->producer() == nullptr || !only_reader(*v, conversion) ||
        v->type.dims() != to->type.dims())
      return false;
    if (!works_on_blocks(*v->producer()) && !stores_small_channels(*v->producer())) return false;
    v->type.format = Format::NC1HWC0_C04;
    graph_.replace_uses(to, v);
    return true;
  }

  // x -> program -> v -> TransData -> y in the other of ND and NC1HWC0: the program stores y.
  bool stored_by_program(Node& conversion) {
    Value* v = conversion.input(0);
    Value* to = conversion.output(0);
    if (to->type.format == Format::NC1HWC0_C04 || v->producer() == nullptr ||
        !mixes_formats(*v->producer()) || !only_reader(*v, conversion) || v->type.dims() != to->type.dims() ||
        !can_replace(to, v))
      return false;
    v->type.format = to->type.format;
    replace_value(to, v);
    return true;
  }

  // v -> TransData -> the other of ND and NC1HWC0 -> program: the program reads v.
  bool read_by_program(Node& conversion) {
    Value* v = conversion.input(0);
    Value* to = conversion.output(0);
    if (to->type.format == Format::NC1HWC0_C04 || to->uses().size() != 1 || graph_.is_output(to) ||
        v->type.dims() != to->type.dims())
      return false;
    const Node& reader = *to->uses().front().node;
    if (reader.graph() != &graph_ || !mixes_formats(reader) ||
        is_single_operand(reader, static_cast<std::size_t>(to->uses().front().index)))
      return false;
    graph_.replace_uses(to, v);
    return true;
  }

  Graph& graph_;
  const FormatChoice choice_;
  int changes_ = 0;
  std::map<std::tuple<const Value*, Format, std::size_t>, Value*> converted_;
};

bool has_formats(const Graph& graph) {
  return std::ranges::any_of(graph.values(),
                             [](const Value* v) { return ir::has_channel_blocks(v->type.format); });
}

StatusOr<int> run(Graph& graph, PassContext&) {
  if (has_formats(graph)) return 0;
  const int changes = FormatSetter(graph).run();
  ATC_CHECK(graph.sort(), "layout made a cycle");
  return changes;
}

}  // namespace

Pass layout_pass() {
  return {"layout", "", "storage formats; TransData where two operators want different ones", run};
}

}  // namespace atc::passes
