#include <algorithm>
#include <functional>

#include "runtime/network_maker.h"

namespace atc::runtime {
namespace {

using ir::Value;

// Dims that broadcast to `dims`: leading ones dropped, some axes 1.
Dims narrower(NetworkMaker& m, Dims dims) {
  const std::size_t rank = dims.size();
  if (m.chance(40)) dims.erase(dims.begin(), dims.begin() + m.between(0, std::ssize(dims)));
  for (std::int64_t& d : dims)
    if (m.chance(35)) d = 1;
  if (dims.size() == rank && rank < 5 && m.chance(5))
    dims.insert(dims.begin(), 2);  // the other operand is the one that spreads
  return dims;
}

bool broadcasts(const Dims& a, const Dims& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::int64_t x = a[a.size() - 1 - i], y = b[b.size() - 1 - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

void unary(NetworkMaker& m, Value* x) {
  const std::string type =
      m.pick({"Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "Softplus", "HardSigmoid", "LeakyRelu", "Elu",
              "HardSwish", "Exp", "Sqrt", "Clip", "PRelu", "Reciprocal", "Sin"});
  if (type == "Exp") return void(m.add("Exp", {m.add("Tanh", {x})}));
  if (type == "Sqrt") return void(m.add("Sqrt", {m.add("Sigmoid", {x})}));
  if (type == "Reciprocal") return void(m.add("Reciprocal", {m.add("Exp", {m.add("Tanh", {x})})}));
  if (type == "Clip") return void(m.add("Clip", {x, m.scalar(-0.5), m.scalar(0.75)}));
  if (type == "PRelu") {
    Dims slope = x->type.dims();
    for (std::size_t i = 0; i < slope.size(); ++i)
      if (i != 1) slope[i] = 1;
    return void(m.add("PRelu", {x, m.constant(slope)}));
  }
  m.add(type, {x});
}

void binary(NetworkMaker& m, Value* x) {
  const Dims dims = x->type.dims();
  Value* y = nullptr;
  if (m.chance(50)) y = m.any([&](const Dims& d) { return d == dims; });  // a residual, or x twice
  if (y == nullptr && m.chance(50)) y = m.any([&](const Dims& d) { return broadcasts(d, dims); });
  if (y == nullptr) y = m.constant(narrower(m, dims));
  const std::string type = m.pick({"Add", "Add", "Sub", "Mul", "Max", "Min", "Mean", "Sum", "Where", "Div"});
  if (type == "Div") return void(m.add("Div", {x, m.positive(narrower(m, dims))}));
  if (type == "Where")
    return void(m.add("Where", {m.add("Greater", {x, y}), x, y}));  // continuous: the larger one
  if (type == "Sum") return void(m.add("Sum", {x, y, x}));
  m.add(type, m.chance(50) ? std::vector<Value*>{x, y} : std::vector<Value*>{y, x});
}

void reduction(NetworkMaker& m, Value* x) {
  const std::string type = m.pick({"ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin",
                                   "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"});
  const std::int64_t rank = std::ssize(x->type.dims());
  const Dims axes = m.pick_axes(rank, m.between(0, std::min<std::int64_t>(rank, 3)));
  const bool as_input = type == "ReduceSum" || m.chance(40);
  std::vector<Value*> in = {x};
  if (as_input && !axes.empty()) in.push_back(m.ints(axes));
  ir::Node* n = m.node(type, in, 1, as_input ? 18 : 17);
  if (!as_input && !axes.empty()) n->attrs.set("axes", axes);
  if (as_input && axes.empty() && m.chance(50)) n->attrs.set("noop_with_empty_axes", std::int64_t{1});
  if (m.chance(75)) n->attrs.set("keepdims", m.between(0, 1));
  m.finish(n);
}

// Conditions come from inputs, which no precision mode rounds: a comparison of computed values could turn.
void mask(NetworkMaker& m, Value* x) {
  const Dims dims = x->type.dims();
  const auto inputs = m.graph().inputs();
  Value* from = inputs[static_cast<std::size_t>(m.between(0, std::ssize(inputs) - 1))];
  Value* condition = m.add(m.pick({"Greater", "LessOrEqual"}), {from, m.scalar(0.1)});
  if (m.chance(30)) condition = m.add("Not", {condition});
  if (m.chance(30))
    condition = m.add(m.pick({"And", "Xor"}), {condition, m.add("Less", {from, m.scalar(0.6)})});
  if (m.chance(25)) m.graph().add_output(condition);
  if (broadcasts(from->type.dims(), dims) && m.chance(70)) {
    m.add("Where", {condition, x, m.constant(dims)});
  } else {
    ir::Node* n = m.node("Cast", {condition});
    n->attrs.set("to", static_cast<std::int64_t>(DType::F32));
    m.finish(n);
  }
}

// The normalisation as exporters write it out, over the last axis.
void written_out_norm(NetworkMaker& m, Value* x) {
  auto mean = [&](Value* v) {
    ir::Node* n = m.node("ReduceMean", {v});
    n->attrs.set("axes", Dims{-1});
    return m.finish(n);
  };
  Value* d = m.add("Sub", {x, mean(x)});
  Value* variance = mean(m.chance(50) ? m.add("Mul", {d, d}) : m.add("Pow", {d, m.scalar(2.0)}));
  Value* deviation = m.add("Sqrt", {m.add("Add", {variance, m.scalar(0.1)})});
  Value* y = m.add("Div", {d, deviation});
  m.add("Add", {m.add("Mul", {y, m.positive({x->type.dims().back()})}), m.constant({x->type.dims().back()})});
}

void normalisation(NetworkMaker& m, Value* x) {
  const Dims dims = x->type.dims();
  const std::int64_t rank = std::ssize(dims);
  if (rank == 0) return;
  const std::string type =
      m.pick({"Softmax", "Softmax", "LogSoftmax", "LayerNormalization", "BatchNormalization",
              "InstanceNormalization", "LpNormalization", "written out"});
  if (type == "written out") return written_out_norm(m, x);
  if (type == "Softmax" || type == "LogSoftmax") {
    ir::Node* n = m.node(type, {x}, 1, m.chance(25) ? 11 : 13);
    n->attrs.set("axis", m.between(-rank, rank - 1));
    m.finish(n);
  } else if (type == "LayerNormalization") {
    const std::int64_t axis = m.between(0, rank - 1);
    const Dims tail(dims.begin() + axis, dims.end());
    std::vector<Value*> in = {x, m.positive(tail)};
    if (m.chance(70)) in.push_back(m.constant(tail));
    ir::Node* n = m.node(type, in);
    n->attrs.set("axis", m.chance(50) ? axis : axis - rank);
    n->attrs.set("epsilon", 0.1F);
    m.finish(n);
  } else if (type == "LpNormalization") {
    ir::Node* n = m.node(type, {m.add("Sigmoid", {x})});
    n->attrs.set("axis", m.between(-rank, rank - 1));
    m.finish(n);
  } else if (rank >= 2) {
    const Dims c = {dims[1]};
    if (type == "BatchNormalization") {
      m.add(type, {x, m.positive(c), m.constant(c), m.constant(c), m.positive(c)});
    } else if (rank >= 3) {
      ir::Node* n = m.node(type, {x, m.positive(c), m.constant(c)});
      n->attrs.set("epsilon", 0.1F);
      m.finish(n);
    }
  }
}

}  // namespace

void add_vector_step(NetworkMaker& m) {
  Value* x = m.any();
  const std::int64_t what = m.between(0, 9);
  if (what < 3)
    unary(m, x);
  else if (what == 3)
    mask(m, x);
  else if (what < 6)
    binary(m, x);
  else if (what < 8)
    reduction(m, x);
  else
    normalisation(m, x);
}

}  // namespace atc::runtime
