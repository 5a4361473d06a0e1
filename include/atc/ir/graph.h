#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "atc/base/tensor.h"
#include "atc/ir/attribute.h"
#include "atc/ir/type.h"

namespace atc::ir {

class Graph;
class Node;

/// One tensor in a graph: a graph input, a constant, or an output of a node.
/// Created by its Graph, lives as long as the Graph.
class Value {
 public:
  int id() const { return id_; }
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  TensorType type;

  Graph* graph() const { return graph_; }
  Node* producer() const { return producer_; }        ///< null for inputs and constants
  int output_index() const { return output_index_; }  ///< which output of producer()
  bool is_constant() const { return constant_.has_value(); }
  const Tensor& constant() const { return *constant_; }  ///< precondition: is_constant()
  bool is_input() const { return is_input_; }

  /// Every (node, input index) that reads the value, in the order in which uses were added; nodes of
  /// nested subgraphs included. Graph outputs are not uses: see Graph::is_output.
  struct Use {
    Node* node = nullptr;
    int index = 0;
    friend bool operator==(const Use&, const Use&) = default;
  };
  const std::vector<Use>& uses() const { return uses_; }

 private:
  friend class Graph;
  friend class Node;
  friend class TextParser;
  int id_ = 0;
  std::string name_;
  Graph* graph_ = nullptr;
  Node* producer_ = nullptr;
  int output_index_ = 0;
  bool is_input_ = false;
  std::optional<Tensor> constant_;
  std::vector<Use> uses_;
};

/// One operation. Absent optional inputs are null; absent optional outputs are null too.
class Node {
 public:
  int id() const { return id_; }
  std::string name;     ///< of the ONNX node; may be empty; need not be unique
  std::string op_type;  ///< "Conv"
  std::string domain;   ///< "" for ONNX's default domain, "atc" for our own operators
  int version = 0;      ///< opset version of the domain under which the node was written
  Attributes attrs;
  /// Names of the ONNX nodes that the node stands for ("Conv_0", or "#12" for unnamed ones).
  std::vector<std::string> sources;

  Graph* graph() const { return graph_; }
  std::span<Value* const> inputs() const { return inputs_; }
  std::span<Value* const> outputs() const { return outputs_; }
  /// Null when absent or beyond the list.
  Value* input(std::size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  Value* output(std::size_t i) const { return i < outputs_.size() ? outputs_[i] : nullptr; }
  void set_input(std::size_t i, Value* v);  ///< keeps use lists; grows the list when needed
  void add_input(Value* v) { set_input(inputs_.size(), v); }
  void resize_inputs(std::size_t n);
  bool is(std::string_view type) const { return op_type == type && domain.empty(); }
  bool is_internal(std::string_view type) const { return op_type == type && domain == "atc"; }
  /// "'Conv_17' (Conv)" or "'#17' (Conv)", for diagnostics.
  std::string label() const;

 private:
  friend class Graph;
  friend class TextParser;
  int id_ = 0;
  Graph* graph_ = nullptr;
  std::list<std::unique_ptr<Node>>::iterator position_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
};

/// Nodes in topological order (an invariant that the verifier checks), values, inputs and outputs.
class Graph {
 public:
  explicit Graph(std::string name = {}, Graph* parent = nullptr);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  std::string name;
  Graph* parent() const { return parent_; }  ///< enclosing graph of a subgraph
  void set_parent(Graph* parent);
  /// True for `this` and every graph that encloses it: the graphs whose values a node here may use.
  bool is_within(const Graph* ancestor) const;

  Value* add_input(std::string name, TensorType type);
  /// The type gets the tensor's dtype and shape. For a packed constant the tensor has the storage dims:
  /// the caller then sets `type.shape` to the logical shape.
  Value* add_constant(std::string name, Tensor tensor, Format format = Format::ND);
  /// Appends (or inserts before `before`) a node with `output_count` fresh, untyped outputs.
  Node* add_node(std::string op_type, std::vector<Value*> inputs, int output_count, Node* before = nullptr,
                 std::string domain = {}, int version = 0);
  /// One more output for `node`.
  Value* add_output_value(Node* node, std::string name);
  void add_output(Value* v) { outputs_.push_back(v); }
  void set_output(std::size_t i, Value* v) { outputs_[i] = v; }
  void clear_outputs() { outputs_.clear(); }

  std::span<Value* const> inputs() const { return inputs_; }
  std::span<Value* const> outputs() const { return outputs_; }
  bool is_output(const Value* v) const;
  /// True when a node reads `v`, or this graph or a graph nested in it returns `v`.
  bool is_used(const Value* v) const;
  /// Iterates in topological order; a node may be erased while the next is already held.
  const std::list<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  std::vector<Node*> node_list() const;  ///< a snapshot, safe to mutate the graph under
  std::size_t node_count() const { return nodes_.size(); }
  /// Every value that is still owned, in order of creation (dead ones included until sweep()).
  std::vector<Value*> values() const;

  /// Every use of `from` (and outputs of this graph and of those nested in it) becomes a use of `to`.
  /// Neither value's name changes.
  void replace_uses(Value* from, Value* to);
  /// Makes `v` a constant and drops it from its producer's outputs (the slot becomes null). Its type
  /// becomes the tensor's, format ND.
  void make_constant(Value* v, Tensor tensor);
  /// Moves output `index` of `from` (the Value itself, with all uses) to `to`, slot `to_index`.
  void move_output(Node* from, std::size_t index, Node* to, std::size_t to_index);
  void drop_output(Node* node, std::size_t index);  ///< precondition: unused
  /// Precondition: no output is used.
  void erase(Node* node);
  void erase_input(Value* v);  ///< precondition: unused
  void move_before(Node* node, Node* before);
  /// Stable topological sort (Kahn, ties by present order). False when there is a cycle.
  bool sort();
  /// Removes nodes whose outputs nobody uses, repeatedly and in nested graphs too, and values nobody
  /// refers to. Returns how many nodes went.
  std::size_t sweep();

  /// Deep copy (constants share their bytes); outer values of a subgraph stay the same pointers.
  std::unique_ptr<Graph> clone() const;

 private:
  friend class Node;
  friend class TextParser;
  using ValueMap = std::unordered_map<const Value*, Value*>;
  Value* new_value(std::string name);
  void orphan(Value* v);
  std::unique_ptr<Graph> clone(Graph* parent, ValueMap& map) const;
  /// Outputs of this graph and of those nested in it.
  void collect_returned(std::unordered_set<const Value*>& out) const;
  Graph* parent_ = nullptr;
  std::vector<Graph*> children_;  // those whose parent_ is this
  int next_value_ = 0;
  int next_node_ = 0;
  std::vector<std::unique_ptr<Value>> values_;
  std::list<std::unique_ptr<Node>> nodes_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
};

/// Subgraphs held in the attributes of a node.
std::vector<std::shared_ptr<Graph>> subgraphs(const Node& node);

/// A loaded model: the main graph and what the file says about itself.
struct Model {
  std::unique_ptr<Graph> graph;
  std::string file;  ///< as the user wrote it, for diagnostics
  std::string producer_name;
  std::string producer_version;
  std::int64_t ir_version = 0;
  std::map<std::string, int> opsets;  ///< domain -> version; "" is the default domain
};

}  // namespace atc::ir
