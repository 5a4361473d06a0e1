#include "passes/identity_removal.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Node;
using ir::Value;

const Tensor* constant(const Node& node, std::size_t i) {
  const Value* v = node.input(i);
  return v != nullptr && v->is_constant() ? &v->constant() : nullptr;
}

/// All elements of a constant, as integers; empty when it is not a constant or has none.
std::vector<std::int64_t> integers(const Node& node, std::size_t i) {
  const Tensor* t = constant(node, i);
  return t == nullptr || !is_integer(t->dtype) ? std::vector<std::int64_t>{} : to_int64s(*t);
}

bool all_are(const std::vector<std::int64_t>& values, std::int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == wanted; });
}

/// Output 0 has the dtype and the static shape of input `i`: with row-major elements in order, the same.
bool same_type(const Node& node, std::size_t i = 0) {
  const Value* in = node.input(i);
  const Value* out = node.output(0);
  return in != nullptr && out != nullptr && in->type.is_static() && in->type == out->type;
}

bool others_unused(const Node& node) {
  for (std::size_t i = 1; i < node.outputs().size(); ++i)
    if (node.output(i) != nullptr && node.graph()->is_used(node.output(i))) return false;
  return true;
}

bool single_input(const Node& node) { return node.inputs().size() == 1; }

bool dropout(const Node& node) {
  if (!others_unused(node)) return false;
  if (node.version < 12 || node.input(2) == nullptr) return true;
  // Exporters leave training_mode on where nothing is dropped.
  const Tensor* ratio = constant(node, 1);
  if (ratio != nullptr && ratio->count() == 1 && to_doubles(*ratio)[0] == 0) return true;
  const Tensor* training = constant(node, 2);
  return training != nullptr && training->count() == 1 && training->as<std::uint8_t>()[0] == 0;
}

bool cast(const Node& node) {
  const DType in = node.input(0)->type.dtype;
  return in != DType::Undefined && in == node.output(0)->type.dtype;
}

bool transpose(const Node& node) {
  const auto& shape = node.input(0)->type.shape;
  if (!shape) return false;
  const std::vector<std::int64_t> perm = node.attrs.get_ints("perm");
  if (perm.empty()) return shape->size() <= 1;
  for (std::size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

bool pad(const Node& node) {
  if (!same_type(node)) return false;
  if (node.version >= 11) return constant(node, 1) != nullptr && all_are(integers(node, 1), 0);
  return all_are(node.attrs.get_ints("pads"), 0) && all_are(node.attrs.get_ints("paddings"), 0);
}

bool slice(const Node& node) {
  if (!same_type(node)) return false;
  // Without steps every axis goes forward by one: the same length is the same elements.
  if (node.version < 10 || node.input(4) == nullptr) return true;
  return constant(node, 4) != nullptr && all_are(integers(node, 4), 1);
}

bool clip(const Node& node) {
  return node.input(1) == nullptr && node.input(2) == nullptr && !node.attrs.has("min") &&
         !node.attrs.has("max");
}

/// Every element of the constant input `i` equals `wanted`; of floats, with the same sign of zero.
bool is_splat(const Node& node, std::size_t i, double wanted) {
  const Tensor* t = constant(node, i);
  if (t == nullptr || t->dtype == DType::String || t->count() < 1) return false;
  if (t->dtype == DType::C64 || t->dtype == DType::C128) return false;
  if (!is_float(t->dtype)) return all_are(to_int64s(*t), static_cast<std::int64_t>(wanted));
  const std::vector<double> values = to_doubles(*t);
  return std::all_of(values.begin(), values.end(), [&](double v) {
    return std::bit_cast<std::uint64_t>(v) == std::bit_cast<std::uint64_t>(wanted);
  });
}

bool float_data(const Node& node) { return is_float(node.output(0)->type.dtype); }

/// The input that the arithmetic node returns, or -1.
int neutral(const Node& node) {
  const std::string& op = node.op_type;
  const auto keeps = [&](std::size_t kept, std::size_t other, double element) {
    return same_type(node, kept) && is_splat(node, other, element);
  };
  if (op == "Add") {
    // -0.0 + 0.0 is 0.0: only -0.0 is neutral for floats.
    const double zero = float_data(node) ? -0.0 : 0.0;
    return keeps(0, 1, zero) ? 0 : keeps(1, 0, zero) ? 1 : -1;
  }
  if (op == "Mul") return keeps(0, 1, 1) ? 0 : keeps(1, 0, 1) ? 1 : -1;
  if (op == "Sub") return keeps(0, 1, 0) ? 0 : -1;
  if (op == "Div" || op == "Pow") return keeps(0, 1, 1) ? 0 : -1;
  if (op == "And") return keeps(0, 1, 1) ? 0 : keeps(1, 0, 1) ? 1 : -1;
  if (op == "Or") return keeps(0, 1, 0) ? 0 : keeps(1, 0, 0) ? 1 : -1;
  return -1;
}

// To the size that is there already, each element is taken where it stands, or weighted with 1.
bool resize(const Node& node) {
  if (!same_type(node) || node.version < 10) return false;
  if (node.version == 10) {
    const Tensor* scales = constant(node, 1);
    return scales != nullptr && is_splat(node, 1, 1);
  }
  const std::string coordinates = node.attrs.get_string("coordinate_transformation_mode", "half_pixel");
  if (coordinates == "tf_crop_and_resize" || coordinates == "tf_half_pixel_for_nn") return false;
  // Sizes may have been cut by a policy: then the scale is 1 too, for the size is the same.
  if (node.input(3) != nullptr && node.input(3)->type.is_static() &&
      element_count(node.input(3)->type.dims()) > 0)
    return true;
  return constant(node, 2) != nullptr && is_splat(node, 2, 1);
}

using Predicate = bool (*)(const Node&);
const std::unordered_map<std::string_view, Predicate>& rules() {
  static const auto same_shape = [](const Node& n) { return same_type(n); };
  static const std::unordered_map<std::string_view, Predicate> table = {
      {"Identity", [](const Node&) { return true; }},
      {"Dropout", dropout},
      {"Resize", resize},
      {"Upsample", [](const Node& n) { return same_type(n) && n.version >= 9 && is_splat(n, 1, 1); }},
      {"Cast", cast},
      {"CastLike", cast},
      {"Reshape", same_shape},
      {"Flatten", same_shape},
      {"Squeeze", same_shape},
      {"Unsqueeze", same_shape},
      {"Expand", same_shape},
      {"Tile", same_shape},
      {"Transpose", transpose},
      {"Pad", pad},
      {"Slice", slice},
      {"Clip", clip},
      {"Concat", single_input},
      {"Sum", single_input},
      {"Mean", single_input},
      {"Max", single_input},
      {"Min", single_input},
      {"Split", [](const Node& n) { return n.outputs().size() == 1 && same_type(n); }},
  };
  return table;
}

/// The input that the node returns unchanged as output 0; null when it does something.
Value* returned_input(const Node& node) {
  if (!node.domain.empty() || node.input(0) == nullptr || node.output(0) == nullptr) return nullptr;
  if (const auto rule = rules().find(node.op_type); rule != rules().end())
    return rule->second(node) ? node.input(0) : nullptr;
  const int kept = neutral(node);
  return kept < 0 ? nullptr : node.input(static_cast<std::size_t>(kept));
}

int remove_from(ir::Graph& graph) {
  int changes = 0;
  for (Node* node : graph.node_list()) {
    for (const auto& body : ir::subgraphs(*node)) changes += remove_from(*body);
    Value* input = returned_input(*node);
    if (input == nullptr || input->type.format != node->output(0)->type.format) continue;
    if (!can_replace(node->output(0), input)) continue;
    replace_value(node->output(0), input);
    if (input->producer() != nullptr) add_sources(*input->producer(), *node);
    graph.erase(node);
    ++changes;
  }
  return changes;
}

StatusOr<int> run(ir::Graph& graph, PassContext&) {
  const int changes = remove_from(graph);
  if (changes > 0) graph.sweep();
  return changes;
}

}  // namespace

Pass identity_removal_pass() {
  return {
      .name = "identity-removal", .summary = "Removes nodes that return their input unchanged", .run = run};
}

}  // namespace atc::passes
