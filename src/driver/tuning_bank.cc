#include "driver/tuning_bank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "atc/base/strings.h"
#include "driver/option_errors.h"

namespace atc::driver {
namespace {

using kernels::BankEntry;
using nlohmann::json;

constexpr std::string_view kFormat = "atc tile bank";
constexpr int kVersion = 1;
constexpr std::int64_t kLargest = 1 << 20;
constexpr std::size_t kKeyDigits = 64;

struct Field {
  const char* name;
  std::int64_t (*get)(const BankEntry&);
  void (*set)(BankEntry&, std::int64_t);
};

#define ATC_BANK_FIELD(text, member)                                                        \
  Field {                                                                                   \
    text, [](const BankEntry& e) { return static_cast<std::int64_t>(e.member); },           \
        [](BankEntry& e, std::int64_t v) { e.member = static_cast<decltype(e.member)>(v); } \
  }
constexpr std::array kFields = {ATC_BANK_FIELD("rows", tile.m),
                                ATC_BANK_FIELD("panels", tile.panels),
                                ATC_BANK_FIELD("k_slice", tile.k_slice),
                                ATC_BANK_FIELD("k_chunk", k_chunk),
                                ATC_BANK_FIELD("a_buffers", a_buffers),
                                ATC_BANK_FIELD("b_buffers", b_buffers),
                                ATC_BANK_FIELD("l0c_buffers", l0c_buffers),
                                ATC_BANK_FIELD("images", images)};
#undef ATC_BANK_FIELD

/// What is wrong with an entry, or "".
std::string read_entry(const json& from, BankEntry& entry) {
  if (!from.is_object()) return "it is no object";
  std::size_t known = 0;
  const auto number = [&](const char* name, double& to) -> std::string {
    const auto it = from.find(name);
    if (it == from.end() || !it->is_number() || !(it->get<double>() >= 0))
      return std::string(name) + " is no time";
    to = it->get<double>();
    ++known;
    return "";
  };
  for (const Field& field : kFields) {
    const auto it = from.find(field.name);
    if (it == from.end() || !it->is_number_integer()) return std::string(field.name) + " is no whole number";
    const std::int64_t value = it->is_number_unsigned() && it->get<std::uint64_t>() > kLargest
                                   ? kLargest + 1
                                   : it->get<std::int64_t>();
    if (value < 1 || value > kLargest)
      return std::string(field.name) + " is " + it->dump() + ", 1 to " + std::to_string(kLargest) +
             " is possible";
    field.set(entry, value);
    ++known;
  }
  const auto kernel = from.find("kernel");
  if (kernel == from.end() || !kernel->is_string()) return "kernel is no text";
  entry.kernel = kernel->get<std::string>();
  const auto inner = from.find("rows_inner");
  if (inner == from.end() || !inner->is_boolean()) return "rows_inner is neither true nor false";
  entry.rows_inner = inner->get<bool>();
  known += 2;
  for (const auto& [name, to] : {std::pair("us", &entry.us), std::pair("default_us", &entry.default_us)})
    if (std::string why = number(name, *to); !why.empty()) return why;
  return known == from.size() ? "" : "it has a field that this version does not know";
}

}  // namespace

std::filesystem::path bank_file(const std::filesystem::path& folder, const soc::Chip& chip) {
  return folder / (std::string(chip.name) + "_tiles.json");
}

std::string bank_text(const kernels::PlanBank& bank, const soc::Chip& chip) {
  json root = {{"format", kFormat},
               {"version", kVersion},
               {"soc_version", std::string(chip.name)},
               {"tasks", json::object()}};
  for (const auto& [key, entry] : bank.entries()) {
    json& task = root["tasks"][key];
    for (const Field& field : kFields) task[field.name] = field.get(entry);
    task["kernel"] = entry.kernel;
    task["rows_inner"] = entry.rows_inner;
    // To a nanosecond: enough to read, and the same on every machine.
    task["us"] = std::round(entry.us * 1000) / 1000;
    task["default_us"] = std::round(entry.default_us * 1000) / 1000;
  }
  return root.dump(1) + "\n";
}

Status read_bank(std::string_view text, const std::string& file, std::string_view option,
                 const soc::Chip& chip, kernels::PlanBank& bank) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded())
    return Status::error("E10032", "The JSON file " + file + " of --" + std::string(option) +
                                       " failed to parse: it is not valid JSON.")
        .solution("Delete the file and tune again with aoe.");
  const auto fault = [&](const std::string& why) {
    return invalid_value("E10001", option, file, why).solution("Delete the file and tune again with aoe.");
  };
  if (!root.is_object() || root.value("format", json()) != json(kFormat))
    return fault("it is no bank of tiles");
  if (root.value("version", json()) != json(kVersion))
    return fault("it is of another version than " + std::to_string(kVersion));
  if (root.value("soc_version", json()) != json(std::string(chip.name)))
    return fault("it is for another chip than " + std::string(chip.name));
  const auto tasks = root.find("tasks");
  if (tasks == root.end() || !tasks->is_object()) return fault("it has no tasks");
  for (const auto& [key, value] : tasks->items()) {
    const bool legal =
        key.size() == kKeyDigits && key.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!legal) return fault("'" + printable(key) + "' is no key of a task");
    BankEntry entry;
    if (const std::string why = read_entry(value, entry); !why.empty())
      return fault("of task " + key + ", " + why);
    bank.put(key, std::move(entry));
  }
  return {};
}

}  // namespace atc::driver
