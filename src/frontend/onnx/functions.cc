#include "frontend/onnx/functions.h"

#include <algorithm>
#include <limits>
#include <set>

#include "frontend/onnx/names.h"
#include "frontend/onnx/proto.h"

namespace atc::frontend {
namespace {

// Fields of onnx.proto since IR versions 9 and 10.
constexpr int kNodeOverload = 8;
constexpr int kFunctionAttributeProto = 11;
constexpr int kFunctionOverload = 13;

std::string unknown_text(const google::protobuf::UnknownFieldSet& fields, int number) {
  std::string text;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    const bool match =
        field.number() == number && field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    if (match) text = field.length_delimited();
  }
  return text;
}

template <class Imports>
Opsets opsets_of(const Imports& imports) {
  Opsets opsets;
  for (const auto& entry : imports) {
    constexpr std::int64_t kMax = std::numeric_limits<int>::max();
    const int version = static_cast<int>(std::clamp<std::int64_t>(entry.version(), 0, kMax));
    int& known = opsets[std::string(normal_domain(entry.domain()))];
    known = std::max(known, version);
  }
  return opsets;
}

std::string function_label(const std::string& domain, const std::string& name, const std::string& overload) {
  return (domain.empty() ? "" : domain + ".") + name + (overload.empty() ? "" : ":" + overload);
}

/// Calls `visit` for each node of the list and of the subgraphs below it.
template <class Visit>
void visit_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, const Visit& visit) {
  for (const auto& node : nodes) {
    visit(node);
    for (const auto& attribute : node.attribute())
      if (attribute.has_g()) visit_nodes(attribute.g().node(), visit);
  }
}

}  // namespace

Opsets read_opsets(const onnx::ModelProto& model) { return opsets_of(model.opset_import()); }
Opsets read_opsets(const onnx::FunctionProto& function) { return opsets_of(function.opset_import()); }

Status FunctionTable::load(const onnx::ModelProto& model, const Context& context) {
  for (const auto& proto : model.functions()) {
    const auto& unknown = proto.unknown_fields();
    Function function;
    function.proto = &proto;
    function.opsets = read_opsets(proto);
    const Key key{normal_domain(proto.domain()), proto.name(), unknown_text(unknown, kFunctionOverload)};
    const auto& [domain, name, overload] = key;
    function.label = function_label(domain, name, overload);
    for (int i = 0; i < unknown.field_count(); ++i) {
      const auto& field = unknown.field(i);
      if (field.number() != kFunctionAttributeProto ||
          field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
        continue;
      auto attribute = std::make_shared<onnx::AttributeProto>();
      if (!attribute->ParseFromString(field.length_delimited()))
        return context.fault("function '" + function.label + "' has an unreadable attribute default");
      const std::string_view attribute_name = attribute->name();
      function.defaults.emplace(attribute_name, std::move(attribute));
    }
    const auto [known, is_new] = functions_.emplace(key, std::move(function));
    if (!is_new) return context.fault("function '" + known->second.label + "' is defined twice");
  }
  return {};
}

const Function* FunctionTable::find(const onnx::NodeProto& node) const {
  if (functions_.empty()) return nullptr;
  const auto found = functions_.find(
      Key{normal_domain(node.domain()), node.op_type(), unknown_text(node.unknown_fields(), kNodeOverload)});
  return found == functions_.end() ? nullptr : &found->second;
}

std::size_t FunctionTable::expanded_nodes(const Function& root) {
  // A work list, because chains of calls can be as long as the file.
  constexpr std::size_t kMax = std::size_t{1} << 62;
  std::vector<const Function*> work{&root};
  std::set<const onnx::FunctionProto*> open;
  while (!work.empty()) {
    const Function& function = *work.back();
    if (expanded_.contains(function.proto)) {
      work.pop_back();
      continue;
    }
    const bool callees_done = !open.insert(function.proto).second;
    std::size_t count = 0;
    visit_nodes(function.proto->node(), [&](const onnx::NodeProto& node) {
      const Function* callee = find(node);
      const auto known = callee == nullptr ? expanded_.end() : expanded_.find(callee->proto);
      count = std::min(kMax, count + 1 + (known == expanded_.end() ? 0 : known->second));
      const bool is_new = callee != nullptr && known == expanded_.end() && !open.contains(callee->proto);
      if (is_new && !callees_done) work.push_back(callee);
    });
    if (!callees_done) continue;
    expanded_.emplace(function.proto, count);
    work.pop_back();
  }
  return expanded_.at(root.proto);
}

}  // namespace atc::frontend
