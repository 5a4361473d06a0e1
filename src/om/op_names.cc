#include "om/op_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace atc::om {
namespace {

using NamePair = std::pair<std::string_view, std::string_view>;

// ONNX name, ATC name; sorted. Only operators whose inputs mean the same in the same order.
constexpr std::array kNames = {
    NamePair{"And", "LogicalAnd"},
    NamePair{"ArgMax", "ArgMaxV2"},
    NamePair{"AveragePool", "AvgPoolV2"},
    NamePair{"BatchNormalization", "BatchNorm"},
    NamePair{"Clip", "ClipByValue"},
    NamePair{"Concat", "ConcatD"},
    NamePair{"CumSum", "Cumsum"},
    NamePair{"DepthwiseConv", "DepthwiseConv2D"},
    NamePair{"Div", "RealDiv"},
    NamePair{"Flatten", "FlattenV2"},
    NamePair{"GRU", "CommonGRU"},
    NamePair{"Gather", "GatherV2"},
    NamePair{"GatherND", "GatherNd"},
    NamePair{"Gemm", "MatMul"},
    NamePair{"GreaterOrEqual", "GreaterEqual"},
    NamePair{"GroupNormalization", "GroupNorm"},
    NamePair{"InstanceNormalization", "InstanceNorm"},
    NamePair{"LSTM", "CommonLSTM"},
    NamePair{"LayerNormalization", "LayerNorm"},
    NamePair{"LessOrEqual", "LessEqual"},
    NamePair{"LogSoftmax", "LogSoftmaxV2"},
    NamePair{"Max", "Maximum"},
    NamePair{"Min", "Minimum"},
    NamePair{"NonMaxSuppression", "NonMaxSuppressionV6"},
    NamePair{"Not", "LogicalNot"},
    NamePair{"Or", "LogicalOr"},
    NamePair{"Pad", "PadV3"},
    NamePair{"RMSNormalization", "RmsNorm"},
    NamePair{"RNN", "CommonRNN"},
    NamePair{"Slice", "StridedSliceV2"},
    NamePair{"Softmax", "SoftmaxV2"},
    NamePair{"Where", "Select"},
    NamePair{"Xor", "LogicalXor"},
};
static_assert(std::is_sorted(kNames.begin(), kNames.end()));

std::optional<std::size_t> rank_of_input(const ir::Node& node, std::size_t i) {
  const ir::Value* v = node.input(i);
  if (v == nullptr || !v->type.shape) return std::nullopt;
  return v->type.shape->size();
}

}  // namespace

std::string atc_op_type(const ir::Node& node) {
  if (node.is_internal("Fused")) {
    const auto body = node.attrs.get_graph("body");
    return body != nullptr && body->node_count() == 1 ? atc_op_type(*body->nodes().front()) : node.op_type;
  }
  if (!node.domain.empty() && node.domain != "atc") return node.op_type;
  if (node.is_internal("Custom")) return node.attrs.get_string("atc_op", node.op_type);
  const auto rank = rank_of_input(node, 0);
  const bool volume = rank == 5U;
  if (node.op_type == "Conv") return volume ? "Conv3D" : "Conv2D";
  if (node.op_type == "ConvTranspose") return volume ? "Conv3DTranspose" : "Conv2DTranspose";
  if (node.op_type == "MaxPool") return volume ? "MaxPool3D" : "MaxPoolV3";
  if (node.op_type == "MatMul") {
    const bool matrices = rank == 2U && rank_of_input(node, 1) == 2U;
    return matrices ? "MatMul" : "BatchMatMul";
  }
  const auto at =
      std::lower_bound(kNames.begin(), kNames.end(), node.op_type,
                       [](const NamePair& pair, const std::string& name) { return pair.first < name; });
  return at != kNames.end() && at->first == node.op_type ? std::string(at->second) : node.op_type;
}

std::string onnx_op_type(const ir::Node& node) {
  const std::string domain = node.domain.empty() ? "ai.onnx" : node.domain;
  return domain + "::" + std::to_string(node.version) + "::" + node.op_type;
}

}  // namespace atc::om
