#include "passes/precision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "atc/base/half.h"
#include "ops/fused_attention.h"
#include "ops/recurrent.h"
#include "passes/node_storage.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

constexpr double kMaxHalf = 65504.0;
// Constants of up to so many elements are not worth the rounding outside the cube.
constexpr std::int64_t kSmallConstant = 4096;

// Operators that move elements: their output has the type of input 0.
constexpr std::array<std::string_view, 16> kMovers = {
    "Concat", "DepthToSpace", "Expand",       "Flatten", "Gather",  "Identity", "Pad",       "Reshape",
    "Resize", "Slice",        "SpaceToDepth", "Split",   "Squeeze", "Tile",     "Transpose", "Unsqueeze"};

bool is_mover(const Node& n) {
  if (n.is_internal("StridedView")) return true;
  return n.domain.empty() && std::find(kMovers.begin(), kMovers.end(), n.op_type) != kMovers.end();
}

// Calls f(position, values) with stretches of an f32 tensor, which may be a view at any address.
template <class F>
void for_stretches(const Tensor& t, const F& f) {
  std::array<float, 4096> stretch;
  const Bytes bytes = t.data.resolved();
  const std::size_t count = bytes.size() / sizeof(float);
  for (std::size_t at = 0; at < count; at += stretch.size()) {
    const std::size_t n = std::min(stretch.size(), count - at);
    std::memcpy(stretch.data(), bytes.data() + at * sizeof(float), n * sizeof(float));
    f(at, std::span(stretch).first(n));
  }
}

bool beyond_half(float f) { return std::isfinite(f) && std::abs(static_cast<double>(f)) > kMaxHalf; }

// LSTM, GRU and RNN that run on the AI Core, where each operand has a type of its own.
bool is_recurrent(const Node& n) {
  return n.domain.empty() && (n.is("LSTM") || n.is("GRU") || n.is("RNN")) && ops::lowers_recurrent(n);
}

bool fits_half(const Tensor& t) {
  bool fits = true;
  for_stretches(t, [&](std::size_t, std::span<float> values) {
    fits = fits && std::none_of(values.begin(), values.end(), beyond_half);
  });
  return fits;
}

// The elements in the narrow type. Values beyond the range of fp16 are clipped, as --is_weight_clip does by
// default.
void narrow(const Tensor& t, DType to, std::span<std::byte> out) {
  for_stretches(t, [&](std::size_t at, std::span<float> values) {
    std::byte* place = out.data() + at * sizeof(Half);
    if (to == DType::BF16) return convert(values.data(), reinterpret_cast<BFloat16*>(place), values.size());
    for (float& f : values)
      if (beyond_half(f)) f = std::clamp(f, -static_cast<float>(kMaxHalf), static_cast<float>(kMaxHalf));
    convert(values.data(), reinterpret_cast<Half*>(place), values.size());
  });
}

/// What a precision mode narrows.
struct Rules {
  DType narrow = DType::F16;
  bool cube_operands = true;
  bool cube_results = true;
  enum class Programs { Keep, Follow, Narrow };
  Programs programs = Programs::Narrow;  ///< Follow: where an input is narrow and no operator forbids it
};

// The black list of the mixed modes: operators that must not be lowered.
bool is_black_listed(const Node& n) {
  return !fp32_reason(n.op_type).empty() || n.op_type.starts_with("Reduce");
}

constexpr std::string_view kQuantizedReason =
    "it is quantized next: rounded to fp16 before, many elements would land a step away";

bool quantizes(const Node& n, std::string_view body) {
  const auto graph = n.attrs.get_graph(body);
  return graph != nullptr && std::any_of(graph->nodes().begin(), graph->nodes().end(),
                                         [](const auto& inner) { return inner->is("QuantizeLinear"); });
}

// Values that a quantizing program reads, also through data movement.
std::set<const Value*> quantized_next(const Graph& graph) {
  std::set<const Value*> out;
  for (auto it = graph.nodes().rbegin(); it != graph.nodes().rend(); ++it) {
    const Node& n = **it;
    const bool pool = n.is_internal("MaxPool") || n.is_internal("AveragePool");
    std::size_t first = n.inputs().size();
    if (n.is_internal("Fused"))
      first = quantizes(n, "body") ? 0 : first;
    else if (n.domain == "atc")
      first = !quantizes(n, "epilogue") ? first : pool ? 0 : 2;
    else if (is_mover(n) && n.output(0) != nullptr && out.contains(n.output(0)))
      first = 0;
    for (std::size_t i = first; i < n.inputs().size(); ++i) out.insert(n.input(i));
  }
  return out;
}

class Narrower {
 public:
  Narrower(Graph& graph, const Rules& rules, const NodePrecisions& asked, PrecisionRecord& record)
      : graph_(graph),
        rules_(rules),
        narrow_(rules.narrow),
        asked_(asked, rules.narrow),
        record_(record),
        quantized_next_(quantized_next(graph)) {}

  int run() {
    for (Node* n : graph_.node_list()) visit(*n);
    restore_outputs();
    return changes_;
  }

 private:
  bool is_wide(const Value* v) const { return v != nullptr && v->type.dtype == DType::F32; }

  void visit(Node& n) {
    if (is_widening(n)) return;
    if (n.is_internal("Fused")) {
      const Narrowing by_mode = narrowing_of(n);
      for (std::size_t i = 0; by_mode.narrow && i < n.inputs().size(); ++i) narrow_large_constant(n, i);
      narrow_outputs(n, "body", by_mode);
    } else if (n.domain == "atc" && n.attrs.has("epilogue")) {
      const bool window = n.op_type == "MaxPool" || n.op_type == "AveragePool";
      if (is_float(n.input(0)->type.dtype) && !window) type_operands(n, {0, 1});
      narrow_outputs(n, "epilogue", window ? narrowing_of(n) : Narrowing{rules_.cube_results, nullptr});
    } else if (is_recurrent(n)) {
      visit_recurrent(n);
    } else if (n.is_internal("Attention")) {
      visit_attention(n);
    } else if (is_mover(n)) {
      visit_mover(n);
    } else {
      for (std::size_t i = 0; i < n.inputs().size(); ++i) widen(n, i);
    }
  }

  /// What the precision mode does with a program's results.
  struct Narrowing {
    bool narrow = false;
    const Node* kept_by = nullptr;  ///< of a black list: without it they would be narrow
  };

  // Vector programs and windows.
  Narrowing narrowing_of(const Node& n) const {
    if (rules_.programs != Rules::Programs::Follow)
      return {rules_.programs == Rules::Programs::Narrow, nullptr};
    if (!reads_narrow(n) && !reads_spared(n)) return {};
    if (const auto body = n.attrs.get_graph("body"); body != nullptr)
      for (const auto& inner : body->nodes()) {
        const Storage asked = asked_.storage_of(*inner);
        if (asked == Storage::Keep || (asked == Storage::Mode && is_black_listed(*inner)))
          return {false, inner.get()};
      }
    return {reads_narrow(n), nullptr};
  }

  bool reads_narrow(const Node& n) const {
    return std::any_of(n.inputs().begin(), n.inputs().end(),
                       [&](const Value* v) { return v != nullptr && narrowed_.contains(v); });
  }

  // Values that stayed wide only because all that read them do.
  bool reads_spared(const Node& n) const {
    return std::any_of(n.inputs().begin(), n.inputs().end(),
                       [&](const Value* v) { return spared_.contains(v); });
  }

  // A Cast to fp32 that stands alone was asked for: by the model, or for a reader that takes nothing else.
  bool is_widening(const Node& n) const {
    if (!n.is_internal("Fused")) return false;
    const auto body = n.attrs.get_graph("body");
    return body->node_count() == 1 && body->nodes().front()->is("Cast") && is_wide(n.output(0)) &&
           n.input(0)->type.dtype == narrow_;
  }

  // Operands of a product, all of one type. Returns whether that is the narrow one.
  bool type_operands(Node& n, const std::vector<std::size_t>& operands) {
    const Storage asked = asked_.operands_of(n);
    const bool narrow = asked == Storage::Mode     ? rules_.cube_operands
                        : asked == Storage::Follow ? reads_narrow(n)
                                                   : asked == Storage::Narrow;
    for (const std::size_t i : operands) {
      if (narrow)
        require(n, i, narrow_);
      else
        widen(n, i);
    }
    if (asked != Storage::Mode && narrow != rules_.cube_operands)
      record_asked(n, n.output(0)->name(), n.op_type,
                   narrow ? "its operands are narrowed" : "its operands keep their type");
    return narrow;
  }

  // Queries, keys and values are cube operands; mask and bias act in fp32 whatever they are stored in.
  void visit_attention(Node& n) {
    if (!is_wide(n.output(0))) return;
    std::vector<std::size_t> operands;
    const std::size_t end = n.inputs().size() - (ops::has_bias(n) ? 1 : 0);
    for (std::size_t i = 0; i < end; ++i)
      if (i != 1) operands.push_back(i);
    if (type_operands(n, operands) && asked_.storage_of(n) != Storage::Keep) set_narrow(n.output(0));
  }

  void visit_mover(Node& n) {
    const std::size_t data = n.is("Concat") ? n.inputs().size() : 1;
    const Storage asked = asked_.storage_of(n);
    if (asked == Storage::Keep) {
      for (std::size_t i = 0; i < data; ++i) widen(n, i);
      return;
    }
    bool any_narrow = asked == Storage::Narrow;
    for (std::size_t i = 0; i < data; ++i)
      if (n.input(i) != nullptr && !n.input(i)->is_constant())
        any_narrow = any_narrow || n.input(i)->type.dtype == narrow_;
    const bool table = n.is("Gather") && n.input(0)->is_constant();
    const bool narrows_table = table && rules_.programs == Rules::Programs::Narrow && is_wide(n.input(0)) &&
                               !quantized_next_.contains(n.output(0)) && !asked_.keep_all(*n.output(0)) &&
                               fits_half(n.input(0)->constant());
    if (!any_narrow && !narrows_table) return;
    for (std::size_t i = 0; i < data; ++i)
      if (is_wide(n.input(i))) require(n, i, narrow_);
    for (Value* v : n.outputs())
      if (is_wide(v)) set_narrow(v);
  }

  // The products take the narrow type; states are kept in fp32 on chip, and the cell state of LSTM, which no
  // activation bounds, outside too.
  void visit_recurrent(Node& n) {
    const bool narrow = type_operands(n, {ops::recurrent::kX, ops::recurrent::kW, ops::recurrent::kR});
    if (!narrow || !rules_.cube_results || asked_.storage_of(n) == Storage::Keep) return;
    for (std::size_t i : {std::size_t{0}, std::size_t{1}})
      if (Value* v = n.output(i); is_wide(v) && !graph_.is_output(v) && !quantized_next_.contains(v))
        set_narrow(v);
  }

  void set_narrow(Value* v) {
    v->type.dtype = narrow_;
    narrowed_.insert(v);
    ++record_.narrowed_values;
    ++changes_;
  }

  // `by_mode`: what the precision mode does with what the program stores.
  void narrow_outputs(Node& n, std::string_view graph, const Narrowing& by_mode) {
    const auto body = n.attrs.get_graph(graph);
    for (std::size_t i = 0; i < n.outputs().size(); ++i) {
      Value* v = n.output(i);
      if (!is_wide(v) || graph_.is_output(v)) continue;
      const Value* inner = body->outputs()[i];
      const Node* maker = inner->producer();
      const std::string_view op = maker == nullptr ? std::string_view() : std::string_view(maker->op_type);
      const Storage asked = asked_.output_of(n, maker, *inner);
      if (asked == Storage::Keep || asked == Storage::Narrow) {
        const bool narrow = asked == Storage::Narrow;
        if (narrow != by_mode.narrow || (!narrow && by_mode.kept_by != nullptr))
          record_asked(n, v->name(), op, narrow ? "it is narrowed" : "it keeps its type");
        if (narrow) set_narrow(v);
        continue;
      }
      const bool narrow = asked == Storage::Follow ? reads_narrow(n) : by_mode.narrow;
      if (!narrow && by_mode.kept_by != nullptr) record_black_listed(n, *v, op, *by_mode.kept_by);
      if (narrow && asked_.keep_all(*v)) spared_.insert(v);
      if (!narrow || spared_.contains(v)) continue;
      const std::string_view reason = quantized_next_.contains(v) ? kQuantizedReason : fp32_reason(op);
      if (!reason.empty())
        record_.changes.push_back(
            {PrecisionChange::Kind::KeptF32, v->name(), std::string(op), n.sources, std::string(reason)});
      else
        set_narrow(v);
    }
  }

  // An operator of a black list keeps all that its program makes.
  void record_black_listed(const Node& n, const Value& v, std::string_view op, const Node& keeper) {
    const bool is_asked = asked_.storage_of(keeper) == Storage::Keep;
    const std::string what = keeper.name.empty() ? keeper.op_type : keeper.name + " (" + keeper.op_type + ")";
    record_.changes.push_back({is_asked ? PrecisionChange::Kind::Asked : PrecisionChange::Kind::KeptF32,
                               v.name(), std::string(op), n.sources,
                               is_asked ? asked_.option_of(keeper) + ": " + what + " keeps its type"
                                        : what + " is on the black list of the mixed precisions"});
  }

  void record_asked(const Node& n, const std::string& value, std::string_view op, const std::string& what) {
    record_.changes.push_back({PrecisionChange::Kind::Asked, value, op.empty() ? n.op_type : std::string(op),
                               n.sources, asked_.option_of(n) + ": " + what});
  }

  void narrow_large_constant(Node& n, std::size_t i) {
    const Value* v = n.input(i);
    if (!is_wide(v) || !v->is_constant() || v->constant().count() <= kSmallConstant) return;
    if (quantized_next_.contains(v) || asked_.keeps(n, i)) return;
    if (fits_half(v->constant())) {
      require(n, i, narrow_);
    } else if (kept_constants_.insert(v).second) {
      record_.changes.push_back({PrecisionChange::Kind::KeptF32, v->name(), n.op_type, n.sources,
                                 "its elements are beyond the range of fp16"});
    }
  }

  // What was narrowed comes back as fp32.
  void widen(Node& n, std::size_t i) {
    const Value* v = n.input(i);
    if (v != nullptr && v->type.dtype == narrow_ && narrowed_.contains(v)) require(n, i, DType::F32);
  }

  // Input i of the node in dtype `to`, through a constant of that type or a Cast.
  void require(Node& n, std::size_t i, DType to) {
    Value* v = n.input(i);
    if (v == nullptr || v->type.dtype == to || !is_float(v->type.dtype)) return;
    Value*& converted = converted_[{v, to}];
    if (converted == nullptr) {
      ++changes_;
      converted = v->is_constant() ? convert_constant(v, to, n) : cast(v, to, &n);
    }
    n.set_input(i, converted);
  }

  Value* convert_constant(const Value* v, DType to, const Node& reader) {
    const Tensor& t = v->constant();
    std::int64_t clipped = 0;
    if (to == DType::F16)
      for_stretches(t, [&](std::size_t, std::span<float> values) {
        clipped += std::count_if(values.begin(), values.end(), beyond_half);
      });
    Tensor out{to, t.shape, {}, {}};
    out.data =
        Bytes::deferred(out.byte_size(), [t, to](std::span<std::byte> bytes) { narrow(t, to, bytes); });
    ++record_.narrowed_constants;
    if (clipped > 0)
      record_.changes.push_back({PrecisionChange::Kind::Clipped, v->name(), reader.op_type, reader.sources,
                                 std::to_string(clipped) + " of " + std::to_string(t.count()) +
                                     " elements are beyond the range of fp16"});
    return graph_.add_constant(v->name(), std::move(out));
  }

  Value* cast(Value* v, DType to, Node* before) {
    ++record_.casts;
    auto body = std::make_shared<Graph>("body", &graph_);
    Value* x = body->add_input(v->name(), v->type);
    Node* c = body->add_node("Cast", {x}, 1, nullptr, {}, 13);
    c->attrs.set("to", static_cast<std::int64_t>(to));
    c->output(0)->type = v->type;
    c->output(0)->type.dtype = to;
    body->add_output(c->output(0));
    Node* fused = graph_.add_node("Fused", {v}, 1, before, "atc", 0);
    fused->attrs.set("body", body);
    fused->name = v->name() + "/cast";
    if (v->producer() != nullptr) fused->sources = v->producer()->sources;
    fused->output(0)->type = c->output(0)->type;
    return fused->output(0);
  }

  // Outputs of the model keep the types they were declared with.
  void restore_outputs() {
    for (std::size_t i = 0; i < graph_.outputs().size(); ++i) {
      Value* v = graph_.outputs()[i];
      if (!narrowed_.contains(v)) continue;
      Value* wide = cast(v, DType::F32, nullptr);
      const std::string name = v->name();
      v->set_name(name + "/narrow");
      wide->set_name(name);
      for (std::size_t k = i; k < graph_.outputs().size(); ++k)
        if (graph_.outputs()[k] == v) graph_.set_output(k, wide);
      ++changes_;
    }
  }

  Graph& graph_;
  Rules rules_;
  DType narrow_;
  NodeStorage asked_;
  PrecisionRecord& record_;
  const std::set<const Value*> quantized_next_;
  int changes_ = 0;
  std::set<const Value*> narrowed_, spared_, kept_constants_;
  std::map<std::pair<const Value*, DType>, Value*> converted_;
};

/// nullopt: nothing is narrowed.
std::optional<Rules> rules_of(const PassOptions& options) {
  constexpr Rules kCubeOperands = {DType::F16, true, false, Rules::Programs::Keep};
  const bool cube_takes_f32 = options.chip == nullptr || options.chip->cube_f32;
  switch (options.precision) {
    case Precision::Origin:
      return std::nullopt;
    case Precision::Fp32:
      return kCubeOperands;
    case Precision::AllowFp32ToFp16:
      return cube_takes_f32 ? std::nullopt : std::optional(kCubeOperands);
    case Precision::AllowFp32ToBf16:
      return cube_takes_f32 ? std::nullopt
                            : std::optional(Rules{DType::BF16, true, false, Rules::Programs::Keep});
    case Precision::Fp16:
      return Rules{DType::F16, true, true, Rules::Programs::Narrow};
    case Precision::MixedFloat16:
      return Rules{DType::F16, true, true, Rules::Programs::Follow};
    case Precision::MixedBfloat16:
      return Rules{DType::BF16, true, true, Rules::Programs::Follow};
  }
  return std::nullopt;
}

StatusOr<int> run(Graph& graph, PassContext& context) {
  const PassOptions& options = context.options;
  auto rules = rules_of(options);
  // Single nodes may be narrow in a mode that narrows nothing.
  if (!rules && options.node_precisions.empty()) return 0;
  if (!rules) rules = Rules{DType::F16, false, false, Rules::Programs::Keep};
  return Narrower(graph, *rules, options.node_precisions, context.precision).run();
}

}  // namespace

Pass precision_pass() {
  return {"precision", "", "storage types of floating values; Casts where a task cannot convert", run};
}

}  // namespace atc::passes
