#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "atc/ir/graph.h"

/// What the passes on quantized graphs share.
namespace atc::passes {

/// One scale and one zero point for a whole 8-bit tensor, both constant.
struct TensorQuantization {
  float scale = 1;
  int zero = 0;
  DType dtype = DType::I8;  ///< I8 or U8
  friend bool operator==(const TensorQuantization&, const TensorQuantization&) = default;
};

/// The parameters of a QuantizeLinear or DequantizeLinear between f32 and 8 bits; nullopt for other nodes and
/// for parameters that are not constant, not single, or not finite and positive (the scale).
std::optional<TensorQuantization> tensor_quantization(const ir::Node& node);

/// The DequantizeLinear of one scale that makes `v`; null when `v` comes from elsewhere.
ir::Node* dequantizer_of(const ir::Value* v);

/// A constant 8-bit weight behind a DequantizeLinear, centered: its values less their zero points.
struct QuantizedWeight {
  ir::Value* stored = nullptr;  ///< the 8-bit constant
  Dims dims;
  std::vector<int> centered;  ///< row-major
  std::vector<float> scales;  ///< one, or one for each index of `axis`
  std::int64_t axis = 0;      ///< when there are several scales
  bool symmetric = false;     ///< i8 without zero points: `stored` holds the centered values

  /// The scale of index i of the axis.
  float scale(std::size_t i) const { return scales.size() == 1 ? scales[0] : scales[i]; }
};
/// nullopt when `v` is no such weight or a centered value does not fit int8.
std::optional<QuantizedWeight> quantized_weight(const ir::Value* v);

/// Inserts nodes before one node, for which they stand: they get its sources and names made from its name.
class NodeWriter {
 public:
  explicit NodeWriter(ir::Node& before) : before_(before), graph_(*before.graph()) {}
  /// Output 0 of a new node of `type` in the operator set that these passes write.
  ir::Value* add(std::string type, std::vector<ir::Value*> inputs, const ir::TensorType& out);
  /// The new node itself, to set its attributes.
  ir::Node* node(std::string type, std::vector<ir::Value*> inputs, const ir::TensorType& out);
  ir::Value* cast(ir::Value* v, DType to);
  ir::Value* constant(const std::string& suffix, Tensor tensor);

 private:
  ir::Node& before_;
  ir::Graph& graph_;
};

}  // namespace atc::passes
