#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::runtime {

/// Grows a graph of ONNX operators on fp32 values node by node. Every node is inferred and evaluated by its
/// reference at once, so that each value's result is known and values that grow large are scaled down.
class NetworkMaker {
 public:
  using Predicate = std::function<bool(const Dims&)>;
  static constexpr int kOpset = 17;

  explicit NetworkMaker(unsigned seed);

  std::int64_t between(std::int64_t low, std::int64_t high);  ///< both included
  bool chance(int percent) { return between(1, 100) <= percent; }
  std::string pick(std::initializer_list<const char*> names);
  Dims pick_axes(std::int64_t rank, std::int64_t count);  ///< distinct, sorted, some negative

  /// An earlier result (or input) whose dims the predicate likes, late ones sooner; null when there is none.
  ir::Value* any(const Predicate& likes = {});
  ir::Value* input(Dims dims);
  ir::Value* constant(Dims dims, double scale = 1.0);
  ir::Value* positive(Dims dims);  ///< a constant in [0.5, 1.5]
  ir::Value* scalar(double value);
  ir::Value* ints(const Dims& values);

  ir::Node* node(const std::string& type, std::vector<ir::Value*> inputs, int outputs = 1,
                 int version = kOpset);
  /// Infers and evaluates the node, its attributes being set. Its fp32 outputs become candidates.
  ir::Value* finish(ir::Node* n);
  ir::Value* add(const std::string& type, std::vector<ir::Value*> inputs) {
    return finish(node(type, std::move(inputs)));
  }

  /// Makes outputs of values that nobody reads, and of some others.
  void add_outputs();

  ir::Graph& graph() { return *graph_; }
  std::unique_ptr<ir::Graph> take_graph() { return std::move(graph_); }
  const Tensor& result(const ir::Value* v) const;

 private:
  void keep_small(ir::Value* v);
  void evaluate(const ir::Node& n);

  std::mt19937 rng_;
  std::unique_ptr<ir::Graph> graph_;
  std::vector<ir::Value*> pool_;
  std::map<const ir::Value*, Tensor> results_;
};

/// Each adds one operator (with what it needs) where the graph has a value that it can work on.
void add_vector_step(NetworkMaker& m);  ///< elementwise, reductions, normalisations
void add_cube_step(NetworkMaker& m);    ///< products, convolutions, pools
void add_move_step(NetworkMaker& m);    ///< concatenations, slices, transposes, ...
void add_image_step(NetworkMaker& m);   ///< blocks of convolutional networks that join and cut channels
void add_matrix_step(NetworkMaker& m);  ///< products of activations of many columns, and what stands between

/// A network with its inputs and what the references make of them.
struct RandomNetwork {
  std::unique_ptr<ir::Graph> graph;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
};
RandomNetwork random_network(unsigned seed);
RandomNetwork random_image_network(unsigned seed);   ///< of image steps
RandomNetwork random_matrix_network(unsigned seed);  ///< of matrix steps
/// Adds outputs and takes the graph.
RandomNetwork finished(NetworkMaker& m);

/// One subgraph that a named fusion knows, as exporters write it: attention, gated units, normalizations, ...
void add_pattern_step(NetworkMaker& m);
/// A network of such subgraphs and other operators between them.
RandomNetwork pattern_network(unsigned seed);

}  // namespace atc::runtime
