#include "runtime/network_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/op.h"
#include "passes/infer_shapes.h"

namespace atc::runtime {
namespace {

constexpr std::int64_t kMaxElements = 40000;
constexpr double kMaxMagnitude = 8.0;

}  // namespace

NetworkMaker::NetworkMaker(unsigned seed) : rng_(seed), graph_(std::make_unique<ir::Graph>("random")) {}

std::int64_t NetworkMaker::between(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng_() % static_cast<std::uint32_t>(high - low + 1));
}

std::string NetworkMaker::pick(std::initializer_list<const char*> names) {
  return names.begin()[between(0, std::ssize(names) - 1)];
}

Dims NetworkMaker::pick_axes(std::int64_t rank, std::int64_t count) {
  Dims axes;
  for (std::int64_t a = 0; a < rank; ++a)
    if (between(1, rank - a) <= count - std::ssize(axes)) axes.push_back(a);
  for (std::int64_t& a : axes)
    if (chance(30)) a -= rank;
  return axes;
}

ir::Value* NetworkMaker::any(const Predicate& likes) {
  std::vector<ir::Value*> fitting;
  for (ir::Value* v : pool_)
    if (!likes || likes(v->type.dims())) fitting.push_back(v);
  if (fitting.empty()) return nullptr;
  const std::int64_t last = std::ssize(fitting) - 1;
  return fitting[static_cast<std::size_t>(chance(60) ? last - between(0, std::min<std::int64_t>(last, 2))
                                                     : between(0, last))];
}

const Tensor& NetworkMaker::result(const ir::Value* v) const {
  return v->is_constant() ? v->constant() : results_.at(v);
}

namespace {

Tensor uniform(std::mt19937& rng, Dims dims, double low, double high) {
  std::vector<double> values(static_cast<std::size_t>(element_count(dims)));
  for (double& v : values) v = low + (high - low) * static_cast<double>(rng() % 100001) / 100000.0;
  return from_doubles(DType::F32, std::move(dims), values);
}

}  // namespace

ir::Value* NetworkMaker::input(Dims dims) {
  ir::Value* v =
      graph_->add_input("x" + std::to_string(graph_->inputs().size()), ir::tensor_type(DType::F32, dims));
  results_[v] = uniform(rng_, std::move(dims), -1.0, 1.0);
  pool_.push_back(v);
  return v;
}

ir::Value* NetworkMaker::constant(Dims dims, double scale) {
  return graph_->add_constant("c", uniform(rng_, std::move(dims), -scale, scale));
}

ir::Value* NetworkMaker::positive(Dims dims) {
  return graph_->add_constant("c", uniform(rng_, std::move(dims), 0.5, 1.5));
}

ir::Value* NetworkMaker::scalar(double value) {
  return graph_->add_constant("s", scalar_tensor(DType::F32, value));
}

ir::Value* NetworkMaker::ints(const Dims& values) {
  return graph_->add_constant("i", from_int64s(DType::I64, {std::ssize(values)}, values));
}

ir::Node* NetworkMaker::node(const std::string& type, std::vector<ir::Value*> inputs, int outputs,
                             int version) {
  ir::Node* n = graph_->add_node(type, std::move(inputs), outputs, nullptr, {}, version);
  n->name = type + "_" + std::to_string(graph_->node_count());
  n->sources = {n->name};
  for (std::size_t i = 0; i < n->outputs().size(); ++i)
    n->output(i)->set_name(n->name + ":" + std::to_string(i));
  return n;
}

void NetworkMaker::evaluate(const ir::Node& n) {
  std::vector<const Tensor*> arguments;
  for (const ir::Value* v : n.inputs()) arguments.push_back(v == nullptr ? nullptr : &result(v));
  ops::EvalContext context(n, std::move(arguments));
  const Status status = ops::Registry::instance().find(n)->reference(context);
  ATC_CHECK(status.ok(), status.to_string());
  for (std::size_t i = 0; i < n.outputs().size(); ++i)
    if (n.output(i) != nullptr) {
      ATC_CHECK(context.outputs[i].shape == n.output(i)->type.dims(),
                n.label() + " has another shape than inferred");
      results_[n.output(i)] = context.outputs[i];
    }
}

ir::Value* NetworkMaker::finish(ir::Node* n) {
  const Status status = passes::infer_shapes(*graph_);
  ATC_CHECK(status.ok(), status.to_string());
  evaluate(*n);
  for (ir::Value* v : n->outputs())
    if (v != nullptr && v->type.dtype == DType::F32) keep_small(v);
  return n->output(0);
}

void NetworkMaker::keep_small(ir::Value* v) {
  double largest = 0;
  for (const double x : to_doubles(result(v))) {
    ATC_CHECK(std::isfinite(x), v->name() + " is not finite");
    largest = std::max(largest, std::abs(x));
  }
  if (largest > kMaxMagnitude) {
    add("Mul", {v, scalar(std::exp2(-std::ceil(std::log2(largest))))});
  } else if (v->type.dims().size() <= 6 && element_count(v->type.dims()) <= kMaxElements) {
    pool_.push_back(v);
  }
}

void NetworkMaker::add_outputs() {
  for (ir::Value* v : std::vector(pool_)) {
    if (graph_->is_output(v) || (!v->uses().empty() && !chance(8))) continue;
    if (v->is_input()) continue;
    graph_->add_output(v);
  }
}

RandomNetwork finished(NetworkMaker& m) {
  if (m.graph().node_count() == 0) m.add("Relu", {m.any()});
  m.add_outputs();
  RandomNetwork net;
  for (const ir::Value* v : m.graph().inputs()) net.inputs.push_back(m.result(v));
  for (const ir::Value* v : m.graph().outputs()) net.expected.push_back(m.result(v));
  net.graph = m.take_graph();
  return net;
}

RandomNetwork random_network(unsigned seed) {
  NetworkMaker m(seed);
  // Now and then so large that a task takes several tiles.
  const std::int64_t k = m.chance(8) ? 5 : 1;
  const std::int64_t kind = m.between(0, 3);
  if (kind == 0) {  // an image
    Dims dims = {m.between(1, 2), m.between(1, 20 * k)};
    const std::int64_t spatial = m.between(1, 3);
    for (std::int64_t i = 0; i < spatial; ++i)
      dims.push_back(m.between(3, spatial < 3 ? 9 * std::min<std::int64_t>(k, 3) : 6));
    m.input(std::move(dims));
  } else if (kind == 1) {  // a sequence
    m.input({m.between(1, 3), m.between(2, 9 * k), m.between(4, 40 * k)});
  } else if (kind == 2) {  // rows
    m.input({m.between(1, 33 * k), m.between(1, 50 * k)});
  } else {
    Dims dims;
    for (std::int64_t i = m.between(0, 5); i > 0; --i) dims.push_back(m.between(1, 6));
    m.input(std::move(dims));
  }
  if (m.chance(40)) m.input(m.any()->type.dims());
  for (std::int64_t i = m.between(1, 14); i > 0; --i) {
    const std::int64_t what = m.between(0, 9);
    if (what < 4)
      add_vector_step(m);
    else if (what < 7)
      add_cube_step(m);
    else
      add_move_step(m);
  }
  return finished(m);
}

RandomNetwork pattern_network(unsigned seed) {
  NetworkMaker m(seed);
  if (m.chance(50))
    m.input({m.between(1, 2), m.between(2, 9), 4 * m.between(1, 8)});
  else
    m.input({m.between(1, 2), m.between(1, 12), m.between(3, 8), m.between(3, 8)});
  for (std::int64_t i = m.between(1, 4); i > 0; --i) {
    add_pattern_step(m);
    if (m.chance(40)) add_vector_step(m);
    if (m.chance(20)) add_cube_step(m);
    if (m.chance(20)) add_move_step(m);
  }
  return finished(m);
}

}  // namespace atc::runtime
