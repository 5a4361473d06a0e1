#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "atc/ir/graph.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

/// What recognisers of written-out operators share: operands in either order, constant factors, and whether
/// the values between are free to go. Static shapes only.
namespace atc::passes {

/// The one element of a floating constant.
std::optional<double> scalar_of(const ir::Value* v);

/// Equal but for the digits that exporters drop from constants (relative 1e-3).
bool is_about(double value, double expected);

/// The node that makes the value when it is of this type, else null.
ir::Node* made_by(const ir::Value* v, std::string_view op_type);

/// A Transpose of the last two axes alone.
bool swaps_last_axes(const ir::Node& node);

/// The axis that a Softmax runs along; nullopt where it runs along several, as before opset 13 when `axis` is
/// not the last one.
std::optional<std::int64_t> softmax_axis(const ir::Node& softmax);

/// One number a channel (axis 1) of a tensor of these dims, of a floating constant that broadcasts to it
/// along the others; nullopt when it is none.
std::optional<std::vector<double>> by_channel(const ir::Value* v, const Dims& dims);

/// x of x + c, c + x, x * c or c * x with a constant of one element; `op_type` is Add or Mul.
struct ScalarOperand {
  ir::Value* x = nullptr;
  double c = 0;
};
std::optional<ScalarOperand> with_scalar(const ir::Node& node, std::string_view op_type);

/// A product taken apart: c times the factors, each as often as it occurs. Passes through private Mul,
/// through Div by a constant and Pow with exponent 2 or 3, up to `kMaxFactors`; `nodes` are those passed
/// through.
struct Product {
  double c = 1;
  std::vector<ir::Value*> factors;
  std::vector<ir::Node*> nodes;
};
inline constexpr std::size_t kMaxFactors = 8;
/// The product that makes `v`; a value that is no product is its own single factor. The node that makes `v`
/// is passed through even when `v` is not private.
Product product_of(ir::Value* v);

/// c of v = c * x (one factor, x), 1 for x itself; nullopt otherwise. Appends the nodes passed through.
std::optional<double> multiple_of(ir::Value* v, const ir::Value* x, std::vector<ir::Node*>& nodes);

/// True when nothing outside `nodes` reads what they make, `last`'s outputs apart.
bool is_closed(const std::vector<ir::Node*>& nodes, const ir::Node& last);

/// Counts the fusion of `nodes` as matched and, where one operator of `x` can stand for them (x has the type
/// of `last`'s output 0, and they are closed), puts it there: replace_nodes. Null where it cannot.
ir::Node* fuse_nodes(ir::Graph& graph, PassContext& context, std::string_view atc_name,
                     const std::vector<ir::Node*>& nodes, ir::Node& last, ir::Value* x, std::string op_type,
                     std::string_view kind, int version);

/// Puts one node of `op_type` before `last`, in place of `last`'s output 0. It is called after the node that
/// it ends, "<name>/<kind>", and stands for all of `nodes`, which go. Precondition: is_closed(nodes, last).
ir::Node* replace_nodes(ir::Graph& graph, const std::vector<ir::Node*>& nodes, ir::Node& last,
                        std::string op_type, std::vector<ir::Value*> inputs, std::string_view kind,
                        int version, std::string domain = {});

}  // namespace atc::passes
