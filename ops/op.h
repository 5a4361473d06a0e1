#pragma once

#include <climits>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "atc/ir/graph.h"

namespace atc::ops {

class LowerContext;   // ops/lower.h
class VectorEmitter;  // ops/vector_emitter.h

enum class AttrKind { Int, Float, String, Ints, Floats, Strings, Tensor, Graph, Tensors };

/// One attribute as ONNX defines it.
struct AttrSpec {
  std::string_view name;
  AttrKind kind = AttrKind::Int;
  bool required = false;
  int since = 1;  ///< opset versions in which the attribute exists
  int until = INT_MAX;
};

/// Input or output counts; optional trailing inputs lower `min`.
struct Arity {
  int min = 1;
  int max = 1;  ///< INT_MAX: variadic
};

/// What type and shape inference sees of one node. All ONNX semantics of shapes are here, once.
class InferContext {
 public:
  explicit InferContext(const ir::Node& node);

  const ir::Node& node() const { return node_; }
  int version() const { return node_.version; }
  std::size_t input_count() const { return node_.inputs().size(); }
  bool has_input(std::size_t i) const { return node_.input(i) != nullptr; }
  const ir::TensorType& type(std::size_t i) const { return node_.input(i)->type; }
  DType dtype(std::size_t i) const { return type(i).dtype; }
  bool ranked(std::size_t i) const { return type(i).shape.has_value(); }
  const ir::Shape& shape(std::size_t i) const { return *type(i).shape; }  ///< precondition: ranked(i)
  /// The input's tensor when it is a constant; null otherwise.
  const Tensor* constant(std::size_t i) const;
  /// Elements of a scalar or 1-D integer input as dims, as far as they are known (partial
  /// evaluation): a constant, or computed from shapes. nullopt: nothing known.
  std::optional<ir::Shape> dims_value(std::size_t i) const;
  /// Inputs whose elements `constant` or `dims_value` was asked for: what the output shapes may depend on.
  const std::vector<bool>& consulted() const { return consulted_; }

  void set_output(std::size_t i, DType dtype, std::optional<ir::Shape> shape);
  /// States what is known of the elements of integer output i.
  void set_dims_value(std::size_t i, ir::Shape value);
  /// A fresh symbol for a dim that depends on data.
  ir::Dim unknown_dim();

  /// A user's fault at this node: code E16006-style with label, operator, input; see errors.md.
  Status error(std::string message) const;
  Status input_error(std::size_t i, std::string message) const;  ///< names the input and its type

  // What the caller (passes/infer_shapes.cc) reads back.
  std::vector<std::optional<ir::TensorType>> outputs;
  std::vector<std::optional<ir::Shape>> dims_values;
  /// Known element values of integer tensors, by value; owned by the caller.
  std::function<std::optional<ir::Shape>(const ir::Value*)> lookup_dims;
  std::function<std::string()> next_symbol;
  /// Infers a subgraph attribute in place, its inputs already typed; for control flow.
  std::function<Status(ir::Graph&)> infer_subgraph;

 private:
  const ir::Node& node_;
  mutable std::vector<bool> consulted_;
};

/// Reference evaluation of one node on host tensors: constant folding, the AI CPU, test oracle.
class EvalContext {
 public:
  /// Inputs may be views at any address (constants of a model); `input` gives aligned ones.
  EvalContext(const ir::Node& node, std::vector<const Tensor*> inputs);
  EvalContext(const EvalContext&) = delete;
  EvalContext& operator=(const EvalContext&) = delete;
  const ir::Node& node() const { return node_; }
  int version() const { return node_.version; }
  std::size_t input_count() const { return inputs_.size(); }
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  const Tensor& input(std::size_t i) const { return *inputs_[i]; }
  Status error(std::string message) const;

  /// One slot for each output of the node; `reference` fills those the node has.
  std::vector<Tensor> outputs;
  /// Evaluates a subgraph attribute: given inputs, returns its outputs; outer values are resolved by
  /// the caller.
  std::function<StatusOr<std::vector<Tensor>>(const ir::Graph&, std::vector<Tensor>)> eval_subgraph;

 private:
  const ir::Node& node_;
  std::vector<const Tensor*> inputs_;
  std::vector<Tensor> aligned_;  // of inputs that are not
};

/// Everything the project knows of one operator version, in one place.
struct OpDef {
  std::string_view name;
  std::string_view domain = {};
  int since = 1;        ///< first opset version of this definition
  int until = INT_MAX;  ///< last one
  std::vector<AttrSpec> attrs = {};
  Arity inputs = {1, 1};
  Arity outputs = {1, 1};
  /// Types and shapes of the outputs. Required.
  Status (*infer)(InferContext&) = nullptr;
  /// Plain evaluation, written to be read. Required unless the operator is ours and always lowers.
  Status (*reference)(EvalContext&) = nullptr;
  /// Elementwise operators: appends instructions to a vector program. Null for others.
  Status (*vector)(VectorEmitter&) = nullptr;
  /// True for dtypes that `vector` handles at this node; null: all of f32 f16 bf16 i32 i64 bool.
  bool (*vector_accepts)(const ir::Node&) = nullptr;
  /// Operators whose `vector` form reduces: the axes of input 0 (sorted, non-negative); nullopt when the
  /// node has no vector form as it stands (axes not constant, keepdims = 0). Null: elementwise.
  std::optional<Dims> (*reduce_axes)(const ir::Node&) = nullptr;
  /// Lowering to AI Core tasks. Null: runs on the AI CPU through `reference`.
  Status (*lower)(LowerContext&) = nullptr;
  /// True when `lower` handles this node (dtype, rank, static shapes); null: always.
  bool (*lowers)(const ir::Node&) = nullptr;
  bool foldable = true;  ///< false: random, or state; never constant folded
};

/// Filled once from the explicit list in registry.cc.
class Registry {
 public:
  static const Registry& instance();
  void add(OpDef def);
  /// The definition for a node's type, domain and version; null when there is none.
  const OpDef* find(std::string_view domain, std::string_view name, int version) const;
  const OpDef* find(const ir::Node& node) const { return find(node.domain, node.op_type, node.version); }
  /// All definitions, sorted by domain, name, version.
  std::vector<const OpDef*> all() const;

 private:
  std::vector<OpDef> defs_;
};

/// Checks counts and attributes of a node against its schema. E16006 with the node's label.
Status check_schema(const ir::Node& node, const OpDef& def);

// Helpers shared by inference functions ------------------------------------------------------------

/// ONNX multidirectional broadcasting; nullopt when the shapes do not fit. An unknown dim against 1
/// stays that unknown dim, against n > 1 becomes n.
std::optional<ir::Shape> broadcast(const ir::Shape& a, const ir::Shape& b);
/// Axis in [-rank, rank) to [0, rank); nullopt outside.
std::optional<std::int64_t> normalize_axis(std::int64_t axis, std::int64_t rank);
/// Same dtype and shape as input 0.
Status infer_same_as_input(InferContext& ctx);
/// Broadcast of all inputs, dtype of input 0 (all must agree).
Status infer_broadcast(InferContext& ctx);
/// Broadcast, dtype bool.
Status infer_compare(InferContext& ctx);

}  // namespace atc::ops
