#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "atc/ir/graph.h"
#include "custom/library.h"

/// atc::Custom: a node that a user's library computes. Attributes: kCustomLibrary (SHA-256 of the library, by
/// which custom::find_library knows it), kCustomOp (the operator's type there) and those of the operator.
namespace atc::ops {

inline constexpr const char* kCustomLibrary = "atc_library";
inline constexpr const char* kCustomOp = "atc_op";

/// The library and the operator of an atc::Custom node.
struct CustomOperator {
  std::shared_ptr<custom::Library> library;
  std::uint32_t op = 0;
  const custom::OpInfo& info() const { return library->info().ops[op]; }
};
/// E10501 when no library with the node's hash is loaded.
StatusOr<CustomOperator> custom_operator(const ir::Node& node);

/// A column of the operator's table of element types.
struct Combination {
  std::uint32_t index = 0;
  bool exact = true;  ///< else floating inputs must be cast to it
};
/// The combination for these inputs (Undefined: absent): the exact one, else the first that floating inputs
/// can be cast to. With `narrow` (F16, BF16) one in which fp32 inputs are of that type comes before all.
/// nullopt when there is none, or none in ND or NCHW format.
std::optional<Combination> find_combination(const custom::OpInfo& op, const std::vector<DType>& inputs,
                                            DType narrow = DType::Undefined);
std::vector<DType> input_dtypes(const ir::Node& node, const custom::OpInfo& op);
/// Refusal of a node whose inputs no combination takes: lists what there is. E10055.
Status no_combination(const ir::Node& node, const custom::OpInfo& op);

/// The node as its library's functions see it: inputs with the types of the combination, attributes with
/// their defaults. With `outputs` as the node has them. Checks counts and attributes: E16006.
StatusOr<custom::Call> custom_call(const ir::Node& node, const CustomOperator& op, std::uint32_t combination,
                                   bool outputs);

/// Adds atc::Custom, the one definition that is no family of ONNX operators.
class Registry;
void register_custom(Registry& registry);

/// An attribute of an operator as a node's, and back; nullopt for kinds that custom operators do not have.
ir::Attribute to_attribute(const custom::AttrValue& value);
std::optional<custom::AttrValue> from_attribute(const std::string& name, const ir::Attribute& attribute);

}  // namespace atc::ops
