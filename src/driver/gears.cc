#include "driver/gears.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "atc/base/strings.h"
#include "driver/option_errors.h"

namespace atc::driver {
namespace {

constexpr std::size_t kFewest = 2;
constexpr std::size_t kMost = 100;

std::string dashed(GearKind kind) { return "--" + std::string(option_of(kind)); }

Status parse_gear(GearKind kind, std::string_view text, std::string_view all, Dims& gear) {
  const std::string_view separators = kind == GearKind::Batch ? "digits and ," : "digits, blanks, , and ;";
  for (const std::string& part : split(text, ',')) {
    const std::string_view digits = trim(part);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range)
      return Status::error("E10013",
                           "Number " + std::string(digits) + " of " + dashed(kind) + " is out of range.");
    if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '-')
      return invalid_value("E10003", option_of(kind), all,
                           "only " + std::string(separators) + " are allowed");
    gear.push_back(value);
  }
  return {};
}

Status check_values(const Gears& gears) {
  const std::string option = dashed(gears.kind);
  if (gears.values.size() < kFewest)
    return Status::error("E10035", option + " has " + std::to_string(gears.values.size()) +
                                       " gear, at least " + std::to_string(kFewest) + " are needed.");
  if (gears.values.size() > kMost)
    return Status::error("E10036", option + " has " + std::to_string(gears.values.size()) +
                                       " gears, at most " + std::to_string(kMost) + " are allowed.");
  for (const Dims& gear : gears.values) {
    if (gears.kind == GearKind::Image && gear.size() != 2)
      return Status::error("E10020", "Gear " + to_string(gear) + " of " + option +
                                         " is invalid: a gear is a pair height,width.");
    if (gear.size() != gears.values.front().size())
      return Status::error("E10037", "Gears " + to_string(gears.values.front()) + " and " + to_string(gear) +
                                         " of " + option + " differ in length.");
    if (std::any_of(gear.begin(), gear.end(), [](std::int64_t v) { return v < 1; }))
      return Status::error("E10038", "Gear " + to_string(gear) + " of " + option +
                                         " is invalid: its numbers must be positive.");
  }
  std::vector<Dims> sorted = gears.values;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return Status::error("E10039", "Gear " + to_string(*twice) + " of " + option + " is given twice.");
  return {};
}

Status check_batch(const std::vector<InputShape>& shapes) {
  bool any = false;
  for (const InputShape& shape : shapes) {
    if (shape.dims.empty())
      return Status::error("E10012", "With --dynamic_batch_size the input " + shape.name +
                                         " of --input_shape needs at least one dim.");
    for (std::size_t i = 0; i < shape.dims.size(); ++i) {
      if (!shape.dims[i].is_any()) continue;
      if (i > 0)
        return Status::error("E10018", "With --dynamic_batch_size only the first dim can be -1; dim " +
                                           std::to_string(i) + " of the input " + shape.name + " is.");
      any = true;
    }
  }
  if (any) return {};
  return Status::error(
      "E10031", "With --dynamic_batch_size at least one input of --input_shape needs -1 as its first dim.");
}

Status check_image(const std::vector<InputShape>& shapes, std::string_view format) {
  const std::size_t height = format == "NCHW" ? 2 : 1;
  for (const InputShape& shape : shapes)
    for (std::size_t i = 0; i < shape.dims.size(); ++i) {
      const bool spatial = shape.dims.size() == 4 && (i == height || i == height + 1);
      const std::size_t twin = i == height ? height + 1 : height;
      if (shape.dims[i].is_any() && (!spatial || !shape.dims[twin].is_any()))
        return Status::error("E10019",
                             "With --dynamic_image_size height and width, both, are -1 and nothing else; "
                             "dim " +
                                 std::to_string(i) + " of the input " + shape.name + " breaks this.");
    }
  return {};
}

}  // namespace

std::string_view option_of(GearKind kind) {
  switch (kind) {
    case GearKind::Batch:
      return "dynamic_batch_size";
    case GearKind::Image:
      return "dynamic_image_size";
    case GearKind::Dims:
      return "dynamic_dims";
    case GearKind::None:
      break;
  }
  return "";
}

StatusOr<Gears> parse_gears(GearKind kind, std::string_view text) {
  Gears gears{kind, {}};
  if (kind == GearKind::Batch) {
    Dims batches;
    ATC_TRY(parse_gear(kind, text, text, batches));
    for (const std::int64_t batch : batches) gears.values.push_back({batch});
  } else {
    std::vector<std::string> parts = split(text, ';');
    if (parts.size() > 1 && trim(parts.back()).empty()) parts.pop_back();
    for (const std::string& part : parts) ATC_TRY(parse_gear(kind, part, text, gears.values.emplace_back()));
  }
  ATC_TRY(check_values(gears));
  return gears;
}

Status check_gears(const Gears& gears, const std::vector<InputShape>& shapes, std::string_view input_format) {
  if (gears.kind == GearKind::Image && input_format != "NCHW" && input_format != "NHWC")
    return invalid_value("E10001", "input_format", input_format, "--dynamic_image_size needs NCHW or NHWC");
  if (gears.kind == GearKind::Dims && input_format != "ND")
    return invalid_value("E10001", "input_format", input_format, "--dynamic_dims needs ND");
  std::size_t any = 0;
  for (const InputShape& shape : shapes)
    for (const DimBound& dim : shape.dims) {
      if (!dim.is_static() && !dim.is_any())
        return Status::error("E10040", "The input " + shape.name + " of --input_shape has a range, beside " +
                                           dashed(gears.kind) + " only -1 and numbers are allowed.");
      any += dim.is_any() ? 1 : 0;
    }
  if (gears.kind == GearKind::Batch) return check_batch(shapes);
  if (any == 0)
    return Status::error("E10040",
                         "With " + dashed(gears.kind) + " some dims of --input_shape must be -1, none is.");
  if (gears.kind == GearKind::Image) return check_image(shapes, input_format);
  if (const std::size_t length = gears.values.front().size(); length != any)
    return Status::error(length > any ? "E10045" : "E10046",
                         "Each gear of --dynamic_dims has " + std::to_string(length) +
                             " numbers, --input_shape has " + std::to_string(any) +
                             " dims that are -1; the counts must be equal.");
  return {};
}

}  // namespace atc::driver
