#include "passes/layout.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "atc/base/math.h"
#include "ops/body.h"
#include "passes/blocked_channels.h"

namespace atc::passes {
namespace {

using ir::Format;
using ir::Graph;
using ir::Node;
using ir::Value;

// ND -> NC1HWC0 at compile time; `dims` is the logical shape of rank >= 3. Unused lanes are zero.
Tensor blocked(const Tensor& t, const Dims& dims) {
  const Dims storage = ir::storage_dims(Format::NC1HWC0, t.dtype, dims);
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

class LayoutChooser {
 public:
  explicit LayoutChooser(Graph& graph) : graph_(graph) {}

  int run() {
    for (Node* n : graph_.node_list()) visit(*n);
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) restore_output(i);
    return changes_;
  }

 private:
  void visit(Node& n) {
    if (n.is_internal("TransData")) {
      if (n.attrs.has("packing")) require(n, 0, Format::ND, 0);
      return;
    }
    const std::optional<Format> wanted = format_of(n);
    if (!wanted) {
      for (std::size_t i = 0; i < n.inputs().size(); ++i)
        if (n.input(i) != nullptr && n.input(i)->type.format == Format::NC1HWC0) require(n, i, Format::ND, 0);
      return;
    }
    const std::size_t rank = rank_of(n);
    const bool cube = n.attrs.has("epilogue");
    for (std::size_t i = 0; i < n.inputs().size(); ++i) {
      const Value* v = n.input(i);
      if (v == nullptr || (cube && i == 1 && has_weight(n))) continue;
      if (is_parameter(n, i)) continue;
      // Single values are broadcast from ND: in blocks they would stand in one lane of sixteen.
      if (is_single(n, *v) && !(cube && i == 0)) {
        require(n, i, Format::ND, 0);
        continue;
      }
      if (v->type.dims().size() < rank) require(n, i, Format::ND, 0);
      require(n, i, Format::NC1HWC0, rank);
    }
    for (Value* v : n.outputs())
      if (v != nullptr) v->type.format = Format::NC1HWC0;
  }

  static std::size_t rank_of(const Node& n) {
    for (const Value* v : n.outputs())
      if (v != nullptr) return v->type.shape->size();
    return 0;
  }

  static bool is_single(const Node& n, const Value& v) {
    return n.domain == "atc" && element_count(v.type.dims()) == 1;
  }

  static bool has_weight(const Node& n) {
    return n.op_type == "Conv" || n.op_type == "ConvTranspose" || n.op_type == "DepthwiseConv";
  }

  // NC1HWC0 where the node works on it, nullopt for ND.
  static std::optional<Format> format_of(const Node& n) {
    if (n.domain == "atc" && n.attrs.has("epilogue"))
      return n.op_type == "MatMul" ? std::nullopt : std::optional(Format::NC1HWC0);
    bool any = false;
    for (std::size_t i = 0; i < n.inputs().size(); ++i)
      any = any || (n.input(i) != nullptr && n.input(i)->type.format == Format::NC1HWC0 &&
                    !is_single(n, *n.input(i)));
    if (!any) return std::nullopt;
    return carries_blocked_channels(n) ? std::optional(Format::NC1HWC0) : std::nullopt;
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
    if (v->is_constant() && format == Format::NC1HWC0) {
      out = graph_.add_constant(v->name(), blocked(v->constant(), dims), format);
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

  Graph& graph_;
  int changes_ = 0;
  std::map<std::tuple<const Value*, Format, std::size_t>, Value*> converted_;
};

StatusOr<int> run(Graph& graph, PassContext&) {
  const int changes = LayoutChooser(graph).run();
  ATC_CHECK(graph.sort(), "layout made a cycle");
  return changes;
}

}  // namespace

Pass layout_pass() {
  return {"layout", "", "storage formats; TransData where two operators want different ones", run};
}

}  // namespace atc::passes
