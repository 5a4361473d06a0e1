#include "passes/operator_advice.h"

#include <algorithm>
#include <array>

#include "ops/op.h"

namespace atc::passes {
namespace {

struct Advice {
  std::string_view type;
  std::string_view text;
};

// Experimental operators that left the standard without a successor of the same name, and where they went.
constexpr std::array kDropped = {
    Advice{"ATen", "export with the operators of the standard (operator_export_type ONNX)"},
    Advice{"Affine", "replace it by Mul with alpha and Add with beta"},
    Advice{"Crop", "replace it by Slice"},
    Advice{"DynamicSlice", "replace it by Slice of opset 10 or later"},
    Advice{"GRUUnit", "replace it by GRU"},
    Advice{"GivenTensorFill", "replace it by an initializer or ConstantOfShape"},
    Advice{"ImageScaler", "replace it by Mul with scale and Add with the bias of each channel"},
    Advice{"ParametricSoftplus", "replace it by Mul, Softplus and Mul"},
    Advice{"Scale", "replace it by Mul"},
    Advice{"ScaledTanh", "replace it by Mul, Tanh and Mul"},
};

bool works_on_text(std::string_view type) {
  return type.starts_with("String") || type == "RegexFullMatch" || type == "TfIdfVectorizer";
}

bool works_on_sequences(std::string_view type) {
  return type.find("Sequence") != std::string_view::npos || type.starts_with("Optional");
}

/// The first opset in which the registry has an operator that is too new for the model; 0 when there is none.
int first_opset(std::string_view domain, std::string_view type) {
  int first = 0;
  for (const ops::OpDef* def : ops::Registry::instance().all())
    if (def->name == type && def->domain == domain && (first == 0 || def->since < first)) first = def->since;
  return first;
}

}  // namespace

std::string operator_advice(std::string_view domain, std::string_view type, int version) {
  if (domain == "ai.onnx") domain = {};
  if (const int first = first_opset(domain, type); first > version)
    return std::string(type) + " is an operator of opset " + std::to_string(first) +
           ": export the model with that opset or a later one";
  if (domain == "ai.onnx.ml")
    return std::string(type) + " belongs to classical machine learning: leave it on the host";
  if (!domain.empty()) return {};
  const auto dropped = std::ranges::find(kDropped, type, &Advice::type);
  if (dropped != kDropped.end())
    return std::string(type) + " is no longer in the ONNX standard: " + std::string(dropped->text);
  if (works_on_text(type)) return std::string(type) + " works on strings: leave it on the host";
  if (works_on_sequences(type))
    return std::string(type) + " works on sequences or optional values: rewrite that part with tensors";
  if (type == "ImageDecoder") return "ImageDecoder reads picture files: decode them on the host";
  return {};
}

}  // namespace atc::passes
