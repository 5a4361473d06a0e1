#include "driver/precision_files.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "atc/base/strings.h"
#include "driver/option_errors.h"

namespace atc::driver {
namespace {

using nlohmann::json;
using passes::Storage;
using Entries = std::vector<PrecisionEntry>;

constexpr std::string_view kTypePrefix = "OpType::";

/// Lines with their numbers, without blanks around and without comments; empty ones are left out.
std::vector<std::pair<int, std::string_view>> lines_of(std::string_view text, std::string_view comments) {
  std::vector<std::pair<int, std::string_view>> out;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && comments.find(line.front()) == std::string_view::npos)
      out.emplace_back(number, line);
  }
  return out;
}

std::string place_of(int number, std::string_view line) {
  return "line " + std::to_string(number) + ", '" + printable(line) + "'";
}

Status bad_line(std::string_view option, const std::string& file, int number, std::string_view line,
                const std::string& why) {
  return invalid_value("E10001", option, file, place_of(number, line) + ": " + why);
}

// "OpType::Gelu" or the name of a node.
PrecisionEntry entry_of(std::string_view subject, std::string_view option) {
  PrecisionEntry entry;
  entry.by_type = subject.starts_with(kTypePrefix);
  if (entry.by_type) subject.remove_prefix(kTypePrefix.size());
  entry.name = trim(subject);
  entry.asked.option = "--" + std::string(option);
  return entry;
}

// --customize_dtypes ------------------------------------------------------------------------------------

constexpr std::string_view kInput = "InputDtype:", kOutput = "OutputDtype:";

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array<DTypeName, 4> kFloats = {
    {{"float16", DType::F16}, {"float32", DType::F32}, {"float", DType::F32}, {"bfloat16", DType::BF16}}};
constexpr std::array<DTypeName, 9> kOthers = {{{"bool", DType::Bool},
                                               {"int8", DType::I8},
                                               {"uint8", DType::U8},
                                               {"int16", DType::I16},
                                               {"uint16", DType::U16},
                                               {"int32", DType::I32},
                                               {"uint32", DType::U32},
                                               {"int64", DType::I64},
                                               {"uint64", DType::U64}}};

/// "float16,float32"; the reason where it is none.
std::string read_dtypes(std::string_view text, DType narrow, std::vector<DType>& out) {
  text = trim(text);
  while (text.ends_with(',')) text = trim(text.substr(0, text.size() - 1));
  if (text.empty()) return "a list of dtypes is empty";
  for (const std::string& part : split(text, ',')) {
    const std::string_view name = trim(part);
    const auto is_called = [&](const DTypeName& t) { return t.name == name; };
    const auto known = std::find_if(kFloats.begin(), kFloats.end(), is_called);
    if (known == kFloats.end()) {
      const auto other = std::find_if(kOthers.begin(), kOthers.end(), is_called);
      if (other == kOthers.end())
        return "'" + std::string(name) +
               "' is no dtype that an operator can be given; float16, float32 and bfloat16 are";
      out.push_back(other->dtype);
      continue;
    }
    if (known->dtype != DType::F32 && known->dtype != narrow)
      return std::string(name) + " cannot be combined with this precision mode, whose 16-bit type is " +
             (narrow == DType::F16 ? "float16" : "bfloat16");
    out.push_back(known->dtype);
  }
  return {};
}

std::string read_customized(std::string_view line, DType narrow, PrecisionEntry& entry) {
  const std::size_t in = line.find(kInput), out = line.find(kOutput);
  const std::size_t first = std::min(in, out);
  if (first == std::string_view::npos) return "it has neither InputDtype: nor OutputDtype:";
  std::string_view subject = trim(line.substr(0, first));
  if (!subject.ends_with(':'))
    return "a colon is missing before " +
           std::string(line.substr(first, in == first ? kInput.size() : kOutput.size()));
  while (subject.ends_with(':')) subject = trim(subject.substr(0, subject.size() - 1));
  entry = entry_of(subject, "customize_dtypes");
  if (entry.name.empty()) return "the name of the node or operator is missing";
  const auto list = [&](std::size_t at, std::string_view key, std::size_t other) {
    const std::size_t end = other > at && other != std::string_view::npos ? other : line.size();
    return line.substr(at + key.size(), end - at - key.size());
  };
  if (in != std::string_view::npos)
    if (std::string why = read_dtypes(list(in, kInput, out), narrow, entry.asked.inputs); !why.empty())
      return why;
  if (out != std::string_view::npos) return read_dtypes(list(out, kOutput, in), narrow, entry.asked.outputs);
  return {};
}

// Implementation modes ------------------------------------------------------------------------------------

/// What a mode asks for; false when there is no such mode.
bool set_mode(std::string_view mode, PrecisionEntry& entry) {
  constexpr std::array<std::string_view, 3> kPlain = {"high_precision", "support_out_of_bound_index",
                                                      "norm_class"};
  entry.mode = mode;
  if (mode == "high_performance" || mode == "super_performance") {
    entry.asked.fast = true;
  } else if (mode == "keep_fp16") {
    entry.asked.storage = Storage::Narrow;
  } else if (mode == "enable_float_32_execution" || mode == "enable_hi_float_32_execution") {
    entry.asked.storage = Storage::Keep;
  } else {
    return std::find(kPlain.begin(), kPlain.end(), mode) != kPlain.end();
  }
  return true;
}

constexpr std::string_view kModes =
    "high_precision, high_performance, super_performance, keep_fp16, enable_float_32_execution, "
    "enable_hi_float_32_execution and support_out_of_bound_index";

// --modify_mixlist ------------------------------------------------------------------------------------------

struct MixList {
  const char* name;
  Storage storage;
};
constexpr std::array<MixList, 3> kLists = {
    {{"black-list", Storage::Keep}, {"white-list", Storage::Narrow}, {"gray-list", Storage::Follow}}};

/// The types under one key of a list; the reason where it is no list of names.
std::string read_types(const json& list, const std::string& where, const char* key,
                       std::vector<std::string>& out) {
  const auto found = list.find(key);
  if (found == list.end()) return {};
  const std::string place = std::string(key) + " of " + where;
  if (!found->is_array()) return place + " is no list";
  for (const json& type : *found) {
    if (!type.is_string() || type.get<std::string>().empty())
      return place + " has an entry that is no operator type";
    out.push_back(type.get<std::string>());
  }
  return {};
}

}  // namespace

StatusOr<Entries> parse_keep_dtype(std::string_view text, const std::string& file) {
  Entries out;
  for (const auto& [number, line] : lines_of(text, "#")) {
    PrecisionEntry entry = entry_of(line, "keep_dtype");
    if (entry.name.empty()) return bad_line("keep_dtype", file, number, line, "the operator type is missing");
    entry.asked.storage = Storage::Keep;
    out.push_back(std::move(entry));
  }
  return out;
}

StatusOr<Entries> parse_customize_dtypes(std::string_view text, const std::string& file, DType narrow) {
  Entries out;
  for (const auto& [number, line] : lines_of(text, "#")) {
    PrecisionEntry entry;
    if (const std::string why = read_customized(line, narrow, entry); !why.empty())
      return bad_line("customize_dtypes", file, number, line, why);
    entry.file = file;
    entry.place = place_of(number, line);
    entry.narrow = narrow;
    out.push_back(std::move(entry));
  }
  return out;
}

StatusOr<Entries> parse_op_precision_mode(std::string_view text, const std::string& file) {
  constexpr const char* kOption = "op_precision_mode";
  Entries out;
  std::string_view section;
  for (const auto& [number, line] : lines_of(text, "#;")) {
    if (line.front() == '[') {
      if (line != "[ByOpType]" && line != "[ByNodeName]")
        return bad_line(kOption, file, number, line, "the sections are [ByOpType] and [ByNodeName]");
      section = line;
      continue;
    }
    if (section.empty())
      return bad_line(kOption, file, number, line, "it stands before [ByOpType] or [ByNodeName]");
    // A node's name may hold '=', a mode does not.
    const std::size_t equals = line.rfind('=');
    PrecisionEntry entry;
    entry.by_type = section == "[ByOpType]";
    entry.name = trim(line.substr(0, std::min(equals, line.size())));
    entry.asked.option = "--op_precision_mode";
    if (equals == std::string_view::npos || entry.name.empty())
      return bad_line(kOption, file, number, line, "it is not of the form name=mode");
    const std::string_view mode = trim(line.substr(equals + 1));
    if (!set_mode(mode, entry))
      return bad_line(kOption, file, number, line,
                      "'" + printable(mode) + "' is no mode; modes are " + std::string(kModes));
    out.push_back(std::move(entry));
  }
  // A node's name beats its type.
  std::stable_partition(out.begin(), out.end(), [](const PrecisionEntry& e) { return e.by_type; });
  return out;
}

StatusOr<Entries> parse_modify_mixlist(std::string_view text, const std::string& file) {
  constexpr const char* kOption = "modify_mixlist";
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded())
    return Status::error(
        "E10032", "The JSON file " + file + " of --modify_mixlist failed to parse: it is not valid JSON.");
  const auto fault = [&](const std::string& why) { return invalid_value("E10001", kOption, file, why); };
  if (!root.is_object()) return fault("it is no JSON object");
  for (const auto& [key, value] : root.items())
    if (std::none_of(kLists.begin(), kLists.end(), [&, &k = key](const MixList& l) { return k == l.name; }))
      return fault("it has '" + printable(key) + "', the lists are black-list, white-list and gray-list");
  Entries removed, added;
  std::map<std::string, const char*> list_of;
  for (const MixList& list : kLists) {
    const auto found = root.find(list.name);
    if (found == root.end()) continue;
    if (!found->is_object()) return fault(std::string(list.name) + " is no object");
    for (const auto& [key, value] : found->items())
      if (key != "to-add" && key != "to-remove")
        return fault("'" + printable(key) + "' of " + list.name + " is neither to-add nor to-remove");
    std::vector<std::string> add, remove;
    for (const auto& [key, types] : {std::pair("to-add", &add), std::pair("to-remove", &remove)})
      if (const std::string why = read_types(*found, list.name, key, *types); !why.empty()) return fault(why);
    for (const std::string& type : add) {
      const auto [known, is_new] = list_of.try_emplace(type, list.name);
      if (!is_new && known->second != list.name)
        return fault("operator type " + printable(type) + " is added to " + known->second + " and " +
                     list.name);
    }
    const auto append = [&](const std::vector<std::string>& types, Storage storage, Entries& out) {
      for (const std::string& type : types) {
        PrecisionEntry& entry = out.emplace_back();
        entry.by_type = true;
        entry.name = type;
        entry.asked.storage = storage;
        entry.asked.option = "--modify_mixlist";
      }
    };
    // What is on no list is gray.
    append(remove, Storage::Follow, removed);
    append(add, list.storage, added);
  }
  removed.insert(removed.end(), added.begin(), added.end());
  return removed;
}

StatusOr<Entries> parse_implementation_mode(std::string_view mode, std::string_view types) {
  Entries out;
  const std::string_view own = mode.substr(0, mode.find("_for_all"));
  std::vector<std::string> names = types.empty() ? std::vector<std::string>{"Gelu"} : split(types, ',');
  for (const std::string& name : names) {
    PrecisionEntry& entry = out.emplace_back();
    entry.by_type = true;
    entry.name = trim(name);
    entry.asked.option = "--op_select_implmode";
    if (entry.name.empty())
      return invalid_value("E10001", "optypelist_for_implmode", types, "it has an empty entry");
    set_mode(own, entry);
    entry.named = !types.empty();
  }
  return out;
}

}  // namespace atc::driver
