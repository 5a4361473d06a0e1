#include "driver/opp_description.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "atc/base/file.h"
#include "atc/base/strings.h"

namespace atc::driver {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kTypes = {
    {{"float", "DT_FLOAT"},   {"float32", "DT_FLOAT"},  {"fp32", "DT_FLOAT"},    {"float16", "DT_FLOAT16"},
     {"fp16", "DT_FLOAT16"},  {"half", "DT_FLOAT16"},   {"bf16", "DT_BF16"},     {"bfloat16", "DT_BF16"},
     {"double", "DT_DOUBLE"}, {"float64", "DT_DOUBLE"}, {"int8", "DT_INT8"},     {"int16", "DT_INT16"},
     {"int32", "DT_INT32"},   {"int", "DT_INT32"},      {"int64", "DT_INT64"},   {"uint8", "DT_UINT8"},
     {"uint16", "DT_UINT16"}, {"uint32", "DT_UINT32"},  {"uint64", "DT_UINT64"}, {"bool", "DT_BOOL"},
     {"DT_FLOAT", "DT_FLOAT"}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kAttrs = {
    {{"int", "Int"},
     {"float", "Float"},
     {"bool", "Bool"},
     {"string", "String"},
     {"str", "String"},
     {"list_int", "ListInt"},
     {"listInt", "ListInt"},
     {"list_float", "ListFloat"}}};

/// Words of C++ that the generated sources cannot use as names (C++17, and the ones C++20 adds).
constexpr std::string_view kKeywords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};

bool is_identifier(const std::string& name) {
  if (std::find(std::begin(kKeywords), std::end(kKeywords), name) != std::end(kKeywords)) return false;
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// A field that is a text or a list of texts.
std::vector<std::string> texts(const json& object, const char* key) {
  std::vector<std::string> out;
  const auto at = object.find(key);
  if (at == object.end()) return out;
  if (at->is_string()) return split(at->get<std::string>(), ',');
  for (const json& item : *at)
    if (item.is_string()) out.push_back(item.get<std::string>());
  return out;
}

std::string text(const json& object, const char* key, const std::string& fallback = {}) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : fallback;
}

class Reader {
 public:
  Reader(const json& root, std::string file) : root_(root), file_(std::move(file)) {}

  StatusOr<OppDescription> run() {
    OppDescription out;
    out.type = text(root_, "op");
    if (!is_identifier(out.type))
      return fault("\"op\" is '" + out.type + "', a name of C++ such as AddCustom is expected");
    type_ = out.type;
    out.file = snake_case(out.type);
    ATC_TRY(read_params("input_desc", out.inputs));
    ATC_TRY(read_params("output_desc", out.outputs));
    if (out.outputs.empty()) return fault("\"output_desc\" lists no tensor");
    ATC_TRY(read_attrs(out.attrs));
    ATC_TRY(check_columns(out));
    return out;
  }

 private:
  Status fault(const std::string& what) const {
    return Status::error("E14001", file_ + ": " + (type_.empty() ? "" : "operator " + type_ + ": ") + what);
  }

  Status read_params(const char* key, std::vector<OppParam>& out) const {
    const auto list = root_.find(key);
    if (list == root_.end()) return {};
    if (!list->is_array()) return fault(std::string("\"") + key + "\" is no list");
    std::set<std::string> names;
    for (const json& item : *list) {
      OppParam& p = out.emplace_back();
      p.name = text(item, "name");
      const std::string who = std::string(key) + " '" + p.name + "'";
      if (!is_identifier(p.name)) return fault(who + ": \"name\" is no identifier");
      if (!names.insert(p.name).second) return fault(who + " appears twice");
      const std::string kind = text(item, "param_type", "required");
      if (kind != "required" && kind != "optional")
        return fault(who + ": \"param_type\" is '" + kind + "', required and optional are supported");
      p.kind = kind == "optional" ? "OPTIONAL" : "REQUIRED";
      for (const std::string& t : texts(item, "type")) {
        const auto known =
            std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& row) { return row.first == t; });
        if (known == kTypes.end()) return fault(who + ": the type '" + t + "' is not supported");
        p.types.emplace_back(known->second);
      }
      for (const std::string& f : texts(item, "format")) {
        if (f != "ND" && f != "NCHW")
          return fault(who + ": the format '" + f + "' is not supported, ND and NCHW are");
        p.formats.push_back("FORMAT_" + f);
      }
      if (p.types.empty()) return fault(who + " lists no \"type\"");
      if (p.formats.empty()) p.formats.assign(p.types.size(), "FORMAT_ND");
    }
    return {};
  }

  Status read_attrs(std::vector<OppAttr>& out) const {
    const auto list = root_.find("attr");
    if (list == root_.end()) return {};
    if (!list->is_array()) return fault("\"attr\" is no list");
    for (const json& item : *list) {
      OppAttr& a = out.emplace_back();
      a.name = text(item, "name");
      if (!is_identifier(a.name)) return fault("attr '" + a.name + "': \"name\" is no identifier");
      a.required = text(item, "param_type", "optional") == "required";
      const std::string type = text(item, "type");
      const auto known =
          std::find_if(kAttrs.begin(), kAttrs.end(), [&](const auto& row) { return row.first == type; });
      if (known == kAttrs.end())
        return fault("attr '" + a.name + "': the type '" + type + "' is not supported");
      a.setter = known->second;
      if (const auto value = item.find("default_value"); value != item.end() && !a.required)
        ATC_TRY(read_default(*value, a));
      if (a.default_value.empty() && !a.required)
        a.default_value = a.setter == "String"           ? "\"\""
                          : a.setter == "Bool"           ? "false"
                          : a.setter.starts_with("List") ? "{}"
                                                         : "0";
    }
    return {};
  }

  Status read_default(const json& value, OppAttr& a) const {
    const bool list = a.setter.starts_with("List");
    if (value.is_array() && list) {
      std::vector<std::string> items;
      for (const json& v : value)
        if (v.is_number()) items.push_back(v.dump());
      a.default_value = "{" + join(items, ", ") + "}";
    } else if (value.is_string() && a.setter == "String") {
      a.default_value = value.dump();
    } else if (value.is_boolean() && a.setter == "Bool") {
      a.default_value = value.get<bool>() ? "true" : "false";
    } else if (value.is_number() && (a.setter == "Int" || a.setter == "Float")) {
      a.default_value = value.dump();
    } else if (value.is_string() && !list && a.setter != "Bool") {
      a.default_value = value.get<std::string>();  // numbers as texts are common
    } else {
      return fault("attr '" + a.name + "': its default_value " + value.dump() + " is of another type");
    }
    return {};
  }

  Status check_columns(const OppDescription& out) const {
    const std::size_t columns = out.outputs[0].types.size();
    for (const auto* list : {&out.inputs, &out.outputs})
      for (const OppParam& p : *list)
        if (p.types.size() != columns || p.formats.size() != columns)
          return fault("'" + p.name + "' lists " + std::to_string(p.types.size()) + " types and " +
                       std::to_string(p.formats.size()) + " formats, '" + out.outputs[0].name + "' has " +
                       std::to_string(columns) + " types: all lists must be equally long");
    return {};
  }

  const json& root_;
  std::string file_, type_;
};

}  // namespace

std::string snake_case(const std::string& type) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::string out;
  for (std::size_t i = 0; i < type.size(); ++i) {
    const bool word_ends =
        i > 0 && is_upper(type[i]) &&
        (!is_upper(type[i - 1]) || (i + 1 < type.size() && type[i + 1] >= 'a' && type[i + 1] <= 'z'));
    if (word_ends && out.back() != '_') out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(type[i])));
  }
  return out;
}

StatusOr<std::vector<OppDescription>> read_opp_json(const std::filesystem::path& path) {
  ATC_ASSIGN(const Bytes bytes, map_file(path));
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  const json root = json::parse(begin, begin + bytes.size(), nullptr, false);
  const std::string file = path.filename().string();
  if (root.is_discarded()) return Status::error("E10032", file + " is no JSON");
  std::vector<OppDescription> out;
  for (const json& op : root.is_array() ? root : json::array({root})) {
    if (!op.is_object()) return Status::error("E14001", file + ": an entry is no operator");
    ATC_ASSIGN(OppDescription one, Reader(op, file).run());
    out.push_back(std::move(one));
  }
  if (out.empty()) return Status::error("E14001", file + " lists no operator");
  return out;
}

}  // namespace atc::driver
