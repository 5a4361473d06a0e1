#include "passes/pad_fusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/move.h"
#include "ops/op.h"
#include "ops/reference_util.h"
#include "ops/window_geometry.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr double kLowest = -std::numeric_limits<double>::infinity();

// A Pad with a constant along spatial axes alone: counts at both ends of each.
struct SpatialPad {
  Dims begin, end;
  double value = 0;
};

std::optional<Dims> all_pads(const Node& n, std::size_t rank) {
  if (n.version < 11) return n.attrs.get_ints(n.version < 2 ? "paddings" : "pads");
  const auto pads = ops::constant_list(n, 1);
  if (!pads || n.input(3) == nullptr) return pads;
  const auto list = ops::constant_list(n, 3);
  const auto axes = list ? ops::normalize_axes(*list, rank) : std::nullopt;
  if (!axes || pads->size() != 2 * axes->size()) return std::nullopt;
  Dims out(2 * rank, 0);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto d = static_cast<std::size_t>((*axes)[i]);
    out[d] = (*pads)[i];
    out[rank + d] = (*pads)[axes->size() + i];
  }
  return out;
}

std::optional<SpatialPad> spatial_pad(const Node& n) {
  if (!n.is("Pad") || !has_static_shapes(n) || n.attrs.get_string("mode", "constant") != "constant")
    return std::nullopt;
  const std::size_t rank = n.input(0)->type.shape->size();
  const auto pads = all_pads(n, rank);
  if (rank < 3 || !is_float(n.input(0)->type.dtype) || !pads || pads->size() != 2 * rank) return std::nullopt;
  SpatialPad p;
  if (n.version < 11) {
    p.value = static_cast<double>(n.attrs.get_float("value", 0));
  } else if (n.input(2) != nullptr) {
    if (!n.input(2)->is_constant() || n.input(2)->constant().count() != 1) return std::nullopt;
    p.value = to_doubles(n.input(2)->constant())[0];
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t a = (*pads)[d], b = (*pads)[rank + d];
    if (a < 0 || b < 0 || (d < 2 && a + b != 0)) return std::nullopt;
    if (d < 2) continue;
    p.begin.push_back(a);
    p.end.push_back(b);
  }
  return p;
}

// The least value that elements can have (those of a NaN aside).
double least(const Value& v) {
  const Node* n = v.producer();
  if (n == nullptr || !n->domain.empty()) return kLowest;
  constexpr std::array<std::string_view, 8> kNotNegative = {"Relu", "Sigmoid", "HardSigmoid", "Abs",
                                                            "Exp",  "Sqrt",    "Softmax",     "Softplus"};
  if (std::ranges::find(kNotNegative, std::string_view(n->op_type)) != kNotNegative.end()) return 0;
  if (!n->is("Clip")) return kLowest;
  if (n->version < 11)
    return static_cast<double>(n->attrs.get_float("min", std::numeric_limits<float>::lowest()));
  const Value* low = n->input(1);
  return low != nullptr && low->is_constant() && low->constant().count() == 1 ? to_doubles(low->constant())[0]
                                                                              : kLowest;
}

// No window holds nothing but pads, of which the maximum would be the Pad's value.
bool windows_meet_elements(const SpatialPad& p, const ops::WindowGeometry& w) {
  for (std::size_t d = 0; d < w.rank(); ++d)
    if (w.dilations[d] != 1 || p.begin[d] + w.pads_begin[d] >= w.kernel[d] ||
        p.end[d] + w.pads_end[d] >= w.kernel[d])
      return false;
  return true;
}

// The Pad's value is below every element, or beside it.
bool may_pad_maximum(const SpatialPad& p, const Value& x) { return p.value <= least(x); }

bool may_pad_average(const Node& pool, const SpatialPad& p, const ops::WindowGeometry& w) {
  const auto none = [](const Dims& d) { return std::ranges::all_of(d, [](auto v) { return v == 0; }); };
  return p.value == 0 && pool.attrs.get_int("ceil_mode", 0) == 0 &&
         (pool.attrs.get_int("count_include_pad", 0) != 0 || (none(w.pads_begin) && none(w.pads_end)));
}

std::optional<ops::WindowGeometry> window_of(const Node& n) {
  const Dims spatial = ops::spatial_dims(*n.input(0)->type.shape);
  auto w = n.is("Conv") ? ops::conv_geometry(n, spatial, ops::spatial_dims(*n.input(1)->type.shape))
                        : ops::pool_geometry(n, spatial);
  if (!w.ok()) return std::nullopt;
  return std::move(w).value();
}

std::string_view atc_name(const Node& n) {
  if (n.is("Conv")) return "PadConv2dFusionPass";
  return n.is("MaxPool") ? "PadMaxPoolFusionPass" : "PadAvgPoolFusionPass";
}

bool absorb(Node& n, PassContext& context) {
  if ((!n.is("Conv") && !n.is("MaxPool") && !n.is("AveragePool")) || !has_static_shapes(n)) return false;
  const Node* pad = n.input(0)->producer();
  const auto p = pad == nullptr ? std::nullopt : spatial_pad(*pad);
  if (!p) return false;
  context.fusions.matched(FusionKind::Graph, atc_name(n));
  const auto w = window_of(n);
  if (!w) return false;
  // The indices of MaxPool count in what it reads.
  if (n.is("MaxPool") && (n.output(1) != nullptr || !may_pad_maximum(*p, *pad->input(0)))) return false;
  if (n.is("AveragePool") && (n.version < 7 || !may_pad_average(n, *p, *w))) return false;
  if (n.is("Conv") && p->value != 0) return false;
  if (!n.is("Conv") && !windows_meet_elements(*p, *w)) return false;
  Dims pads;
  for (std::size_t d = 0; d < w->rank(); ++d) pads.push_back(w->pads_begin[d] + p->begin[d]);
  for (std::size_t d = 0; d < w->rank(); ++d) pads.push_back(w->pads_end[d] + p->end[d]);

  const ir::Attributes before = n.attrs;
  Value* padded = n.input(0);
  n.set_input(0, pad->input(0));
  n.attrs.erase("auto_pad");
  n.attrs.set("pads", pads);
  if (n.is("AveragePool")) n.attrs.set("count_include_pad", std::int64_t{1});
  // Rounding up depends on where the pads end.
  if (const auto now = window_of(n); !now || now->output != w->output) {
    n.attrs = before;
    n.set_input(0, padded);
    return false;
  }
  add_sources(n, *pad);
  context.fusions.effected(FusionKind::Graph, atc_name(n));
  return true;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  int changes = 0;
  for (Node* n : graph.node_list())
    while (n->domain.empty() && absorb(*n, context)) ++changes;
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass pad_fusion_pass() {
  return {"pad-fusion", "PadConv2dFusionPass", "Pads go into the convolutions and pools that read them", run};
}

}  // namespace atc::passes
