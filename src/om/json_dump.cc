#include "om/json_dump.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/strutil.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "om/container.h"
#include "om/proto/ge.pb.h"
#include "om/proto_util.h"

namespace atc::om {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::json;

constexpr int kMaxDepth = 20;
constexpr int kIndent = 4;

/// Sorted.
constexpr std::array<std::string_view, 10> kDroppedFields = {
    "bt",   "data",        "data_offset", "memory_size",    "output", "quantize_factor",
    "size", "weight_size", "workspace",   "workspace_bytes"};
static_assert(std::is_sorted(kDroppedFields.begin(), kDroppedFields.end()));

/// As printf's %g, six significant digits.
std::string float_text(double value) {
  std::array<char, 32> text{};
  const int n = std::snprintf(text.data(), text.size(), "%g", value);
  return {text.data(), static_cast<std::size_t>(n)};
}

Json message_json(const Message& message, int depth);

/// One element of a field; `index` is empty for a field that is not repeated.
Json element_json(const Message& message, const FieldDescriptor* field, std::optional<int> index, int depth) {
  const Reflection* r = message.GetReflection();
  const auto read = [&](auto single, auto repeated) {
    return index ? (r->*repeated)(message, field, *index) : (r->*single)(message, field);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return message_json(
          index ? r->GetRepeatedMessage(message, field, *index) : r->GetMessage(message, field), depth + 1);
    case FieldDescriptor::CPPTYPE_ENUM:
      return read(&Reflection::GetEnum, &Reflection::GetRepeatedEnum)->name();
    case FieldDescriptor::CPPTYPE_BOOL:
      return read(&Reflection::GetBool, &Reflection::GetRepeatedBool);
    case FieldDescriptor::CPPTYPE_INT32:
      return read(&Reflection::GetInt32, &Reflection::GetRepeatedInt32);
    case FieldDescriptor::CPPTYPE_UINT32:
      return read(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32);
    case FieldDescriptor::CPPTYPE_INT64:
      return read(&Reflection::GetInt64, &Reflection::GetRepeatedInt64);
    case FieldDescriptor::CPPTYPE_UINT64:
      return read(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return float_text(read(&Reflection::GetFloat, &Reflection::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return float_text(read(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = read(&Reflection::GetString, &Reflection::GetRepeatedString);
      return field->type() == FieldDescriptor::TYPE_BYTES ? google::protobuf::CEscape(text) : text;
    }
  }
  return nullptr;
}

/// Map entries in key order, whatever the order of the hash table behind them.
void sort_entries(Json& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Json& a, const Json& b) { return a.value("key", "") < b.value("key", ""); });
}

Json message_json(const Message& message, int depth) {
  Json out;
  if (depth > kMaxDepth) return out;
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (std::binary_search(kDroppedFields.begin(), kDroppedFields.end(), field->name())) continue;
    if (!field->is_repeated()) {
      Json value = element_json(message, field, std::nullopt, depth);
      if (!value.is_null()) out[field->name()] = std::move(value);
      continue;
    }
    Json list = Json::array();
    const int count = message.GetReflection()->FieldSize(message, field);
    for (int i = 0; i < count; ++i) list.push_back(element_json(message, field, i, depth));
    if (field->is_map()) sort_entries(list);
    out[field->name()] = std::move(list);
  }
  return out;
}

/// Model attribute "fm" lists, for the operations in order, what each was before fusion; its attribute
/// fusion_scope numbers the group: L1 groups in the upper 16 bits, UB groups in the lower.
void name_fusion_groups(ge::proto::ModelDef& model) {
  const auto list = model.attr().find("fm");
  if (list == model.attr().end()) return;
  const auto originals = list->second.list().bt();
  int next = 0;
  for (auto& graph : *model.mutable_graph()) {
    for (auto& op : *graph.mutable_op()) {
      if (next >= originals.size()) return;
      ge::proto::OpDef original;
      const std::string& bytes = originals[next++];
      if (!parse(original, std::as_bytes(std::span(bytes)))) continue;
      const auto scope = original.attr().find("fusion_scope");
      if (scope == original.attr().end()) continue;
      const auto number = static_cast<std::uint64_t>(scope->second.i());
      const std::uint64_t l1 = number >> 16 & 0xFFFF;
      const std::uint64_t ub = number & 0xFFFF;
      if (l1 == 0 && ub == 0) continue;
      (*op.mutable_attr())["group_op_name"].set_s(
          (l1 != 0 ? "group_op_l1_" + std::to_string(l1) : "group_op_ub_" + std::to_string(ub)) + "_" +
          std::to_string(op.stream_id()));
    }
  }
}

}  // namespace

StatusOr<std::string> dump_json(const Bytes& om_file) {
  ATC_ASSIGN(const Container container, open_container(om_file));
  ge::proto::ModelDef model;
  if (!parse(model, container.payload(Section::ModelDef)->span()))
    return broken("section MODEL_DEF is not a valid message");
  name_fusion_groups(model);
  Json json = message_json(model, 0);
  if (json.is_null()) json = Json::object();
  // Every string is valid UTF-8 here (protobuf refuses others); `replace` keeps dump from throwing.
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atc::om
