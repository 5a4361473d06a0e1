#include "passes/custom_norms.h"

#include "ops/op.h"
#include "passes/add_norm_fusion.h"
#include "passes/custom_offer.h"
#include "passes/gelu_fusion.h"
#include "passes/match.h"
#include "passes/node_writer.h"
#include "passes/norm_fusion.h"
#include "passes/rewrite.h"
#include "passes/softmax_fusion.h"
#include "passes/swish_fusion.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

bool is_read(const Value* v) { return v != nullptr && (!v->uses().empty() || v->graph()->is_output(v)); }

/// A normalization with or without the sum in front of it.
struct Kind {
  std::string_view norm, add_norm;  ///< nodes that the recognisers make
  std::string plain, with_sum;      ///< names of the patterns
  bool centred = false;
};
const Kind kRms = {"RMSNormalization", "AddRmsNorm", "RmsNorm", "AddRmsNorm", false};
const Kind kLayer = {"LayerNormalization", "AddLayerNorm", "LayerNorm", "AddLayerNorm", true};

class Taker {
 public:
  Taker(Graph& graph, PassContext& context)
      : graph_(graph),
        context_(context),
        takeover_(*context.custom),
        rms_(find({"RmsNorm", "RMSNorm", "RMSNormalization"})),
        add_rms_(find({"AddRmsNorm", "AddRMSNorm"})),
        layer_(find({"LayerNorm", "LayerNormalization"})),
        add_layer_(find({"AddLayerNorm"})),
        gelu_(find({"Gelu"})) {}

  StatusOr<int> run() {
    if (rms_ != nullptr || add_rms_ != nullptr) ATC_TRY(make(rms_norm_fusion_pass()));
    if (layer_ != nullptr || add_layer_ != nullptr) ATC_TRY(make(layer_norm_fusion_pass()));
    if (gelu_ != nullptr) ATC_TRY(make(gelu_fusion_pass()));
    if (find({"SwiGlu", "SwiGLU"}) != nullptr) ATC_TRY(make(swish_fusion_pass()));
    if (find({"Attention", "SoftmaxMulReduceSum"}) != nullptr) ATC_TRY(make(softmax_fusion_pass()));
    ATC_TRY(take_norms(kRms, rms_, add_rms_, add_rms_norm_fusion_pass()));
    ATC_TRY(take_norms(kLayer, layer_, add_layer_, add_layer_norm_fusion_pass()));
    if (gelu_ != nullptr)
      for (Node* n : graph_.node_list())
        if (n->is("Gelu") && has_static_shapes(*n)) ATC_TRY(take_gelu(*n));
    return changes_;
  }

 private:
  const CustomEntry* find(std::initializer_list<std::string_view> types) const {
    return takeover_.operators.find_type(types, *context_.options.chip);
  }

  Status make(const Pass& recogniser) {
    ATC_ASSIGN(const int made, recogniser.run(graph_, context_));
    changes_ += made;
    return {};
  }

  Status take_norms(const Kind& kind, const CustomEntry* plain, const CustomEntry* with_sum,
                    const Pass& joins_sums) {
    if (with_sum != nullptr) {
      // Sums that the operator cannot give to their other readers stay apart.
      if (output_of(with_sum->info(), "x") < 1 && plain != nullptr)
        for (Node* n : graph_.node_list())
          if (n->is(kind.norm) && has_static_shapes(*n) && made_by(n->input(0), "Add") != nullptr &&
              !is_private(n->input(0)))
            ATC_TRY(take_norm(*n, kind, *plain, false));
      ATC_TRY(make(joins_sums));
      for (Node* n : graph_.node_list())
        if (n->is_internal(kind.add_norm)) ATC_TRY(take_norm(*n, kind, *with_sum, true));
    }
    if (plain == nullptr) return {};
    for (Node* n : graph_.node_list())
      if (n->is(kind.norm) && has_static_shapes(*n)) ATC_TRY(take_norm(*n, kind, *plain, false));
    return {};
  }

  /// Scale or bias as one number for each normalized element.
  Value* parameter(NodeWriter& w, Value* p, const Dims& normalized, double absent, const Value* like,
                   const std::string& name) {
    const std::int64_t count = element_count(normalized);
    if (p == nullptr)
      return graph_.add_constant(like->name() + "/" + name,
                                 from_doubles(like->type.dtype, {count},
                                              std::vector<double>(static_cast<std::size_t>(count), absent)));
    if (element_count(p->type.dims()) != count) p = expand(w, p, normalized, name);
    return w.reshape(p, {count}, name + "_row");
  }

  Value* expand(NodeWriter& w, Value* v, const Dims& dims, const std::string& name) {
    if (v->type.dims() == dims) return v;
    const auto shape = ops::broadcast(*v->type.shape, *ir::tensor_type(v->type.dtype, dims).shape);
    return w
        .insert("Expand", {v, w.int64s(dims, name + "_dims")},
                ir::tensor_type(v->type.dtype, ir::to_dims(*shape)), name + "_expanded")
        ->output(0);
  }

  Status take_norm(Node& n, const Kind& kind, const CustomEntry& entry, bool with_sum) {
    const std::size_t operands = with_sum ? 2 : 1;
    Value* sum = with_sum ? n.output(1) : nullptr;
    const std::string& pattern = with_sum ? kind.with_sum : kind.plain;
    const auto missed = [&](const std::string& why) {
      context_.near_miss(pattern, n, why);
      return Status();
    };
    // Mean and deviation are outputs of ONNX's operator.
    if (!with_sum && (is_read(n.output(1)) || is_read(n.output(2)))) return missed("its statistics are read");
    const int sum_output = output_of(entry.info(), "x");
    if (is_read(sum) && sum_output < 1)
      return missed("others read the sum, and the custom operator " + entry.info().type +
                    " has no output 'x' for it");
    const Dims dims = n.input(0)->type.dims();
    const auto axis = ops::normalize_axis(n.attrs.get_int("axis", -1), std::ssize(dims));
    if (!axis || element_count(dims) == 0) return {};
    const Dims normalized(dims.begin() + *axis, dims.end());
    Dims rows(dims.begin(), dims.begin() + *axis);
    rows.push_back(element_count(normalized));

    CustomOffer offer;
    offer.pattern = pattern;
    offer.last = &n;
    offer.nodes = {&n};
    offer.attrs = {{"epsilon", n.attrs.get_float("epsilon", 1e-5F)},
                   {"axis", std::int64_t{-1}},
                   {"begin_norm_axis", std::int64_t{-1}},
                   {"begin_params_axis", std::int64_t{-1}}};
    offer.needed = {"epsilon"};
    offer.result = rows;
    offer.inputs.resize(operands + (kind.centred ? 2 : 1), n.input(0));
    if (const std::string why = cannot_take(entry.info(), offer); !why.empty()) return missed(why);
    NodeWriter w(graph_, n);
    for (std::size_t i = 0; i < operands; ++i)
      offer.inputs[i] = w.reshape(expand(w, n.input(i), dims, "addend"), rows, "rows");
    offer.inputs[operands] = parameter(w, n.input(operands), normalized, 1, n.input(0), "gamma");
    if (kind.centred)
      offer.inputs[operands + 1] = parameter(w, n.input(operands + 1), normalized, 0, n.input(0), "beta");
    const std::size_t outputs = is_read(sum) ? static_cast<std::size_t>(sum_output) + 1 : 1;
    ATC_ASSIGN(Node * made, write_custom(graph_, offer, entry, outputs, takeover_));
    replace_value(n.output(0), w.reshape(made->output(0), dims, "result"));
    if (is_read(sum)) {
      Value* x = made->output(static_cast<std::size_t>(sum_output));
      if (!x->type.is_static() || x->type.dims() != rows)
        return Status::error("E89999", made->label() + ": output 'x' of the custom operator " +
                                           entry.info().type + " (" + entry.library->name() + ") is " +
                                           ir::to_string(x->type) + ", the sum that it stands for [" +
                                           to_string(rows) + "]");
      replace_value(sum, w.reshape(x, dims, "sum"));
    }
    graph_.erase(&n);
    ++changes_;
    return {};
  }

  Status take_gelu(Node& n) {
    CustomOffer offer;
    offer.pattern = "Gelu";
    offer.last = &n;
    offer.nodes = {&n};
    offer.inputs = {n.input(0)};
    const std::string approximate = n.attrs.get_string("approximate", "none");
    offer.attrs = {{"approximate", approximate}};
    if (approximate != "none") offer.needed = {"approximate"};
    offer.result = n.output(0)->type.dims();
    if (const std::string why = cannot_take(gelu_->info(), offer); !why.empty()) {
      context_.near_miss(offer.pattern, n, why);
      return {};
    }
    ATC_ASSIGN(Node * made, write_custom(graph_, offer, *gelu_, 1, takeover_));
    replace_value(n.output(0), made->output(0));
    graph_.erase(&n);
    ++changes_;
    return {};
  }

  Graph& graph_;
  PassContext& context_;
  CustomTakeover& takeover_;
  const CustomEntry *rms_, *add_rms_, *layer_, *add_layer_, *gelu_;
  int changes_ = 0;
};

StatusOr<int> run(Graph& graph, PassContext& context) {
  if (context.custom == nullptr || context.custom->operators.entries.empty()) return 0;
  return Taker(graph, context).run();
}

}  // namespace

Pass custom_norms_pass() {
  return {
      .name = "custom-norms", .summary = "normalizations and GELUs become the user's operators", .run = run};
}

}  // namespace atc::passes
