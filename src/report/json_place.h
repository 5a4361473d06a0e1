#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atc::report {

/// What a file should have and does not, with its place. Caught where the file is read.
struct JsonMismatch {
  std::string text;  ///< "/tasks/3/name should be a text, found null"
};

/// A value of a JSON document that knows where it is, by JSON pointer. Whoever asks it for something that it
/// is not gets a JsonMismatch thrown. The document outlives it.
class JsonPlace {
 public:
  explicit JsonPlace(const nlohmann::json& value, std::string at = {}) : value_(value), at_(std::move(at)) {}

  const nlohmann::json& value() const { return value_; }
  /// A key that must be there.
  JsonPlace at(const std::string& key) const {
    auto found = find(key);
    if (!found) fail("has no '" + key + "'");
    return *std::move(found);
  }
  /// A key that may be missing.
  std::optional<JsonPlace> find(const std::string& key) const {
    const auto found = object().find(key);
    if (found == value_.end()) return std::nullopt;
    return JsonPlace(*found, at_ + "/" + key);
  }
  std::string text_or(const std::string& key, const char* otherwise) const {
    const auto found = find(key);
    return found ? found->text() : otherwise;
  }
  const nlohmann::json& object() const {
    expect(value_.is_object(), "an object");
    return value_;
  }
  std::vector<JsonPlace> items() const {
    expect(value_.is_array(), "a list");
    std::vector<JsonPlace> out;
    for (std::size_t i = 0; i < value_.size(); ++i)
      out.emplace_back(value_[i], at_ + "/" + std::to_string(i));
    return out;
  }
  std::string text() const {
    expect(value_.is_string(), "a text");
    return value_.get<std::string>();
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const JsonPlace& item : items()) out.push_back(item.text());
    return out;
  }
  double number() const {
    expect(value_.is_number(), "a number");
    return value_.get<double>();
  }
  std::int64_t integer() const {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    expect(
        value_.is_number_integer() && (!value_.is_number_unsigned() || value_.get<std::uint64_t>() <= kMost),
        "an integer");
    return value_.get<std::int64_t>();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw JsonMismatch{(at_.empty() ? "its outermost object" : at_) + " " + what};
  }
  void expect(bool holds, const char* what) const {
    if (holds) return;
    std::string found = value_.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (found.size() > 40) found = std::string("a longer ") + value_.type_name();
    fail("should be " + std::string(what) + ", found " + found);
  }

  const nlohmann::json& value_;
  std::string at_;
};

}  // namespace atc::report
