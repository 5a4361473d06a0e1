#include "driver/input_shape.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "atc/base/check.h"
#include "atc/base/math.h"
#include "atc/base/strings.h"

namespace atc::driver {
namespace {

constexpr std::string_view kSample = "input_name1:n1,c1,h1,w1;input_name2:n2,c2";

Status unreadable(std::string_view text, std::string_view reason) {
  return Status::error(
      "E10002", "Value " + std::string(text) + " for parameter --input_shape is invalid. Reason: " +
                    std::string(reason) + ". The value must be formatted as " + std::string(kSample) + ".");
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Digits with an optional minus sign.
StatusOr<std::int64_t> number(std::string_view entry, std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (text.empty()) return unreadable(entry, "a dim is empty");
  if (!all_digits(digits)) {
    const auto dot = digits.find('.');
    const bool is_float = dot != std::string_view::npos && all_digits(digits.substr(0, dot));
    const std::string what = "'" + std::string(text) + "'";
    return unreadable(entry, is_float
                                 ? "the dim " + what + " is a floating-point number, integers are expected"
                                 : "the dim " + what + " is not a number");
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc())
    return Status::error("E10013", "Dim " + std::string(text) + " of --input_shape in " + std::string(entry) +
                                       " is out of range: it must be at most 9223372036854775807.");
  return value;
}

Status not_positive(std::string_view entry, std::string_view dim) {
  return Status::error("E10011",
                       "Value " + std::string(entry) +
                           " for parameter --input_shape is invalid: a dim is a positive integer, '" +
                           std::string(dim) + "' is not.");
}

StatusOr<DimBound> parse_dim(std::string_view entry, std::string_view text) {
  const auto tilde = text.find('~');
  if (tilde == std::string_view::npos) {
    ATC_ASSIGN(const std::int64_t n, number(entry, text));
    if (n == -1) return DimBound{};
    if (n < 1) return not_positive(entry, text);
    return DimBound{n, n};
  }
  ATC_ASSIGN(const std::int64_t low, number(entry, trim(text.substr(0, tilde))));
  ATC_ASSIGN(const std::int64_t high, number(entry, trim(text.substr(tilde + 1))));
  if (low < 1) return not_positive(entry, text);
  if (high == DimBound::kUnbounded) return DimBound{low, high};
  if (high < 1) return not_positive(entry, text);
  if (high < low) return unreadable(entry, "the range '" + std::string(text) + "' ends before it begins");
  return DimBound{low, high};
}

Status check_size(const InputShape& shape, std::string_view entry) {
  std::int64_t count = 1;
  for (const DimBound& dim : shape.dims) {
    const auto product = checked_mul(count, std::max<std::int64_t>(dim.max, 1));
    if (!product)
      return Status::error("E10013", "The dims of --input_shape in " + std::string(entry) +
                                         " are out of range: the element count does not fit 64 bits.");
    count = *product;
  }
  return {};
}

StatusOr<InputShape> parse_entry(std::string_view entry, bool brackets_needed) {
  const auto colon = entry.rfind(':');
  if (colon == std::string_view::npos)
    return unreadable(entry, "there is no colon between the input's name and its dims");
  InputShape shape;
  shape.name = trim(entry.substr(0, colon));
  if (shape.name.empty()) return unreadable(entry, "the input's name is empty");
  std::string_view dims = trim(entry.substr(colon + 1));
  const bool opens = dims.starts_with('[');
  const bool closes = dims.size() > 1 && dims.ends_with(']');
  if (opens != closes || (brackets_needed && !opens)) return unreadable(entry, "a bracket is missing");
  if (opens) dims = trim(dims.substr(1, dims.size() - 2));
  if (dims.empty()) return shape;
  for (const std::string& dim : split(dims, ',')) {
    ATC_ASSIGN(const DimBound bound, parse_dim(entry, trim(dim)));
    shape.dims.push_back(bound);
  }
  ATC_TRY(check_size(shape, entry));
  return shape;
}

StatusOr<std::vector<InputShape>> parse(std::string_view text, bool brackets_needed) {
  std::vector<InputShape> shapes;
  std::vector<std::string> entries = split(text, ';');
  if (entries.size() > 1 && trim(entries.back()).empty()) entries.pop_back();
  for (const std::string& raw : entries) {
    const std::string_view entry = trim(raw);
    if (entry.empty()) return unreadable(text, "an entry between semicolons is empty");
    ATC_ASSIGN(InputShape shape, parse_entry(entry, brackets_needed));
    const auto same = [&](const InputShape& other) { return other.name == shape.name; };
    if (std::any_of(shapes.begin(), shapes.end(), same))
      return unreadable(entry, "the input '" + shape.name + "' is given twice");
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

}  // namespace

bool InputShape::is_static() const {
  return std::all_of(dims.begin(), dims.end(), [](const DimBound& d) { return d.is_static(); });
}

Dims InputShape::static_dims() const {
  ATC_CHECK(is_static(), "static_dims of the dynamic input " + name);
  Dims numbers;
  for (const DimBound& dim : dims) numbers.push_back(dim.min);
  return numbers;
}

StatusOr<std::vector<InputShape>> parse_input_shape(std::string_view text) { return parse(text, false); }

StatusOr<std::vector<InputShape>> parse_input_shape_range(std::string_view text) {
  auto shapes = parse(text, true);
  if (shapes.ok()) return shapes;
  return Status::error("E10048", "Value " + std::string(text) +
                                     " for parameter --input_shape_range is invalid. It must be formatted as "
                                     "input_name1:[n1,c1,h1~h2,w1];input_name2:[n2,c2].")
      .note(shapes.status().diagnostic().message);
}

}  // namespace atc::driver
