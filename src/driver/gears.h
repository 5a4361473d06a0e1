#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "driver/input_shape.h"

namespace atc::driver {

enum class GearKind : std::uint8_t { None, Batch, Image, Dims };

/// Shapes between which the application chooses at run time. Each gear holds the numbers that replace the
/// -1 dims of --input_shape: one batch, height and width, or one number for each -1 in order.
struct Gears {
  GearKind kind = GearKind::None;
  std::vector<Dims> values;
};

/// Option without dashes: "dynamic_batch_size", ...
std::string_view option_of(GearKind kind);
/// The text of the option. E10003 characters, E10020 image gears without two numbers, E10035 fewer than 2
/// gears, E10036 more than 100, E10037 unequal lengths, E10038 zero, E10039 duplicates, E10013 too large.
StatusOr<Gears> parse_gears(GearKind kind, std::string_view text);
/// Gears against shapes and layout. E10001 layout, E10040 ranges or no -1, E10012, E10018, E10031 batch,
/// E10019 image, E10045 and E10046 dims.
Status check_gears(const Gears& gears, const std::vector<InputShape>& shapes, std::string_view input_format);

}  // namespace atc::driver
