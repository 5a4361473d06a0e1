#include "passes/decompose_reduce.h"

#include <optional>
#include <string>

#include "kernels/vector_program.h"
#include "ops/reduce.h"
#include "passes/node_writer.h"

namespace atc::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Value;

/// The axes of a reduction, when they are known.
std::optional<Dims> known_axes(const Node& n) {
  if (!n.op_type.starts_with("Reduce")) return std::nullopt;
  const Value* input = n.input(1);
  if (input != nullptr && !input->is_constant()) return std::nullopt;
  const auto axes =
      ops::reduction_axes(n, input != nullptr ? &input->constant() : nullptr, n.input(0)->type.dims().size());
  if (!axes.ok()) return std::nullopt;
  return *axes;
}

/// Neighbouring axes together, first to last. Axes of one element between two of them join them: reducing
/// along these too gives the same.
std::vector<Dims> groups_of(const Dims& axes, const Dims& dims) {
  std::vector<Dims> groups;
  for (std::int64_t axis : axes) {
    std::int64_t next = groups.empty() ? 0 : groups.back().back() + 1;
    while (!groups.empty() && next < axis && dims[static_cast<std::size_t>(next)] == 1) ++next;
    if (groups.empty() || next != axis) {
      groups.push_back({axis});
      continue;
    }
    while (groups.back().back() < axis) groups.back().push_back(groups.back().back() + 1);
  }
  return groups;
}

/// What the first, the middle and the last of several steps are.
struct Steps {
  std::string first, middle, last;
};

std::optional<Steps> steps_of(const Node& n) {
  const DType dtype = n.input(0)->type.dtype;
  const auto reg = kernels::reg_type_of(dtype);
  if (!reg) return std::nullopt;
  const std::string op = n.op_type;
  if (op == "ReduceMax" || op == "ReduceMin" || op == "ReduceSum" || op == "ReduceProd")
    return Steps{op, op, op};
  if (op == "ReduceL1" || op == "ReduceSumSquare") return Steps{op, "ReduceSum", "ReduceSum"};
  if (*reg != kernels::RegType::F32) return std::nullopt;
  // Roots of sums of squares again: the squares of the whole may lie outside fp16.
  if (op == "ReduceMean" || op == "ReduceL2" || op == "ReduceLogSumExp") return Steps{op, op, op};
  if (op == "ReduceLogSum") return Steps{"ReduceSum", "ReduceSum", op};
  return std::nullopt;
}

}  // namespace

bool keep_reduced_axes(Graph& g, Node& n) {
  if (n.attrs.get_int("keepdims", 1) != 0) return false;
  const auto axes = known_axes(n);
  if (!axes) return false;
  Value* out = n.output(0);
  const Dims kept = ops::reduced_shape(n.input(0)->type.dims(), *axes, true);
  NodeWriter w(g, n);
  Node* reduced = w.insert(n.op_type, {n.inputs().begin(), n.inputs().end()},
                           ir::tensor_type(out->type.dtype, kept), "keepdims");
  reduced->version = n.version;
  reduced->attrs = n.attrs;
  reduced->attrs.set("keepdims", std::int64_t{1});
  w.finish(w.reshape(reduced->output(0), out->type.dims(), "drop_axes"));
  return true;
}

bool split_reduced_axes(Graph& g, Node& n) {
  if (n.attrs.get_int("keepdims", 1) == 0) return false;
  const auto axes = known_axes(n);
  if (!axes || axes->empty() || axes->back() - axes->front() + 1 == std::ssize(*axes)) return false;
  const auto steps = steps_of(n);
  if (!steps) return false;
  Value* x = n.input(0);
  const std::vector<Dims> groups = groups_of(*axes, x->type.dims());
  NodeWriter w(g, n);
  // From the last axes, whose elements lie together, to the first.
  for (std::size_t i = groups.size(); i-- > 0;) {
    const bool is_first = i + 1 == groups.size(), is_last = i == 0;
    const std::string& op = is_first && is_last ? n.op_type
                            : is_first          ? steps->first
                            : is_last           ? steps->last
                                                : steps->middle;
    const std::string suffix = "axes" + std::to_string(i);
    const bool takes_input = n.version >= 18 || (n.version >= 13 && op == "ReduceSum");
    std::vector<Value*> inputs = {x};
    if (takes_input) inputs.push_back(w.int64s(groups[i], suffix + "_axes"));
    Node* step =
        w.insert(op, std::move(inputs),
                 ir::tensor_type(x->type.dtype, ops::reduced_shape(x->type.dims(), groups[i], true)), suffix);
    step->version = n.version;
    if (!takes_input) step->attrs.set("axes", groups[i]);
    step->attrs.set("keepdims", std::int64_t{1});
    x = step->output(0);
  }
  w.finish(x);
  return true;
}

}  // namespace atc::passes
