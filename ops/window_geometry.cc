#include "ops/window_geometry.h"

#include <algorithm>
#include <limits>

#include "atc/base/math.h"
#include "ops/op.h"

namespace atc::ops {

namespace {

enum class AutoPad { NotSet, Valid, SameUpper, SameLower };

// Attribute values beyond this make no sense and would let products overflow.
constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();

Status fault(const ir::Node& node, const std::string& message) { return InferContext(node).error(message); }

StatusOr<AutoPad> auto_pad(const ir::Node& node) {
  const std::string text = node.attrs.get_string("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::NotSet;
  if (text == "VALID") return AutoPad::Valid;
  if (text == "SAME_UPPER") return AutoPad::SameUpper;
  if (text == "SAME_LOWER") return AutoPad::SameLower;
  return fault(node,
               "attribute auto_pad is \"" + text + "\", expected NOTSET, VALID, SAME_UPPER or SAME_LOWER");
}

/// An integer list attribute of `count` entries, each >= `least`; all `fallback` when absent or empty.
StatusOr<Dims> int_list(const ir::Node& node, std::string_view attribute, std::size_t count,
                        std::int64_t fallback, std::int64_t least) {
  Dims values = node.attrs.get_ints(attribute);
  if (values.empty()) return Dims(count, fallback);
  const std::string name(attribute);
  if (values.size() != count)
    return fault(node, "attribute " + name + " has " + std::to_string(values.size()) + " values [" +
                           to_string(values) + "], expected " + std::to_string(count));
  for (std::int64_t v : values)
    if (v < least || v > kLargest)
      return fault(node, "attribute " + name + " is [" + to_string(values) +
                             "], every value must be >= " + std::to_string(least));
  return values;
}

/// Strides, dilations and explicit pads; `kernel` from kernel_shape, checked against the weight.
StatusOr<WindowGeometry> read_window(const ir::Node& node, std::size_t rank, const Dims& weight_kernel) {
  WindowGeometry g;
  ATC_ASSIGN(g.strides, int_list(node, "strides", rank, 1, 1));
  ATC_ASSIGN(g.dilations, int_list(node, "dilations", rank, 1, 1));
  ATC_ASSIGN(Dims pads, int_list(node, "pads", 2 * rank, 0, 0));
  g.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  g.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  ATC_ASSIGN(g.kernel, int_list(node, "kernel_shape", rank, -1, 1));
  for (std::size_t i = 0; i < weight_kernel.size(); ++i) {
    if (weight_kernel[i] < 0) continue;
    if (g.kernel[i] >= 0 && g.kernel[i] != weight_kernel[i])
      return fault(node, "attribute kernel_shape is [" + to_string(g.kernel) +
                             "], but the weight's spatial dims are [" + to_string(weight_kernel) + "]");
    if (weight_kernel[i] == 0 || weight_kernel[i] > kLargest)
      return fault(
          node, "the weight's spatial dims are [" + to_string(weight_kernel) + "], every one must be >= 1");
    g.kernel[i] = weight_kernel[i];
  }
  g.output.assign(rank, -1);
  return g;
}

Status too_small(const ir::Node& node, const WindowGeometry& g, std::size_t axis, std::int64_t in) {
  return fault(node, "spatial axis " + std::to_string(axis) + " of the data has size " + std::to_string(in) +
                         " (padded " + std::to_string(in + g.pads_begin[axis] + g.pads_end[axis]) +
                         "), smaller than the window of extent " + std::to_string(g.extent(axis)));
}

/// Sizes and SAME pads of a forward window (Conv and pooling).
Status resolve_forward(const ir::Node& node, const Dims& spatial, AutoPad mode, bool ceil,
                       WindowGeometry& g) {
  for (std::size_t i = 0; i < g.rank(); ++i) {
    const std::int64_t in = spatial[i];
    const std::int64_t stride = g.strides[i];
    if (mode == AutoPad::SameUpper || mode == AutoPad::SameLower) {
      g.pads_begin[i] = g.pads_end[i] = -1;
      if (in < 0) continue;
      g.output[i] = ceil_div(in, stride);
      if (g.kernel[i] < 0) continue;
      const std::int64_t total = std::max<std::int64_t>((g.output[i] - 1) * stride + g.extent(i) - in, 0);
      g.pads_begin[i] = mode == AutoPad::SameUpper ? total / 2 : total - total / 2;
      g.pads_end[i] = total - g.pads_begin[i];
      continue;
    }
    if (mode == AutoPad::Valid) g.pads_begin[i] = g.pads_end[i] = 0;
    if (in < 0 || g.kernel[i] < 0) continue;
    const std::int64_t room = in + g.pads_begin[i] + g.pads_end[i] - g.extent(i);
    if (room < 0) {
      if (in > 0) return too_small(node, g, i, in);
      g.output[i] = 0;
      continue;
    }
    g.output[i] = (ceil ? ceil_div(room, stride) : room / stride) + 1;
    // Windows must start inside the data or the left padding.
    if (ceil && (g.output[i] - 1) * stride >= in + g.pads_begin[i]) --g.output[i];
  }
  return {};
}

/// How the cropping of a transposed convolution is split when output_shape or SAME fixes the size.
void split_transpose_padding(const ir::Node& node, AutoPad mode, std::int64_t total, std::int64_t& begin,
                             std::int64_t& end) {
  // Opset 11 swapped the sides: before it SAME_UPPER put the odd one in front.
  const bool odd_at_end = (mode == AutoPad::SameUpper) == (node.version >= 11);
  begin = odd_at_end ? total / 2 : total - total / 2;
  end = total - begin;
}

/// output_shape lists the spatial dims; some exporters write N and C too.
StatusOr<Dims> requested_output(const ir::Node& node, std::size_t rank) {
  Dims shape = node.attrs.get_ints("output_shape");
  if (shape.size() == rank + 2) shape.erase(shape.begin(), shape.begin() + 2);
  if (shape.empty()) return shape;
  if (shape.size() != rank)
    return fault(node, "attribute output_shape has " + std::to_string(shape.size()) + " values, expected " +
                           std::to_string(rank));
  for (std::int64_t v : shape)
    if (v < 1 || v > kLargest)
      return fault(node, "attribute output_shape is [" + to_string(shape) + "], every value must be >= 1");
  return shape;
}

}  // namespace

Dims spatial_dims(const ir::Shape& shape) {
  Dims dims;
  for (std::size_t i = 2; i < shape.size(); ++i) dims.push_back(shape[i].known() ? shape[i].value : -1);
  return dims;
}

StatusOr<WindowGeometry> conv_geometry(const ir::Node& node, const Dims& spatial, const Dims& kernel) {
  ATC_ASSIGN(const AutoPad mode, auto_pad(node));
  ATC_ASSIGN(WindowGeometry g, read_window(node, spatial.size(), kernel));
  ATC_TRY(resolve_forward(node, spatial, mode, false, g));
  return g;
}

StatusOr<WindowGeometry> pool_geometry(const ir::Node& node, const Dims& spatial) {
  ATC_ASSIGN(const AutoPad mode, auto_pad(node));
  if (node.attrs.get_ints("kernel_shape").empty()) return fault(node, "attribute kernel_shape is missing");
  ATC_ASSIGN(WindowGeometry g, read_window(node, spatial.size(), {}));
  ATC_TRY(resolve_forward(node, spatial, mode, node.attrs.get_int("ceil_mode", 0) != 0, g));
  return g;
}

StatusOr<WindowGeometry> conv_transpose_geometry(const ir::Node& node, const Dims& spatial,
                                                 const Dims& kernel) {
  const std::size_t rank = spatial.size();
  ATC_ASSIGN(const AutoPad mode, auto_pad(node));
  ATC_ASSIGN(WindowGeometry g, read_window(node, rank, kernel));
  ATC_ASSIGN(const Dims extra, int_list(node, "output_padding", rank, 0, 0));
  ATC_ASSIGN(const Dims requested, requested_output(node, rank));
  const bool same = mode == AutoPad::SameUpper || mode == AutoPad::SameLower;
  for (std::size_t i = 0; i < rank; ++i) {
    const bool size_given = !requested.empty() || same;
    if (mode == AutoPad::Valid) g.pads_begin[i] = g.pads_end[i] = 0;
    if (size_given) g.pads_begin[i] = g.pads_end[i] = -1;
    if (!requested.empty()) g.output[i] = requested[i];
    if (spatial[i] < 0) continue;
    const auto scaled = checked_mul(spatial[i], g.strides[i]);
    if (!scaled || *scaled > std::numeric_limits<std::int64_t>::max() / 4)
      return fault(node, "the output size of spatial axis " + std::to_string(i) + " overflows");
    if (same && requested.empty()) g.output[i] = *scaled;
    if (g.kernel[i] < 0) continue;
    const std::int64_t full = *scaled - g.strides[i] + extra[i] + g.extent(i);
    if (size_given) {
      const std::int64_t total = std::max<std::int64_t>(full - g.output[i], 0);
      split_transpose_padding(node, mode, total, g.pads_begin[i], g.pads_end[i]);
      continue;
    }
    g.output[i] = full - g.pads_begin[i] - g.pads_end[i];
    if (g.output[i] < 0 || (g.output[i] == 0 && spatial[i] > 0))
      return fault(node, "the pads of spatial axis " + std::to_string(i) + " (" +
                             std::to_string(g.pads_begin[i]) + " and " + std::to_string(g.pads_end[i]) +
                             ") leave nothing of an output of size " + std::to_string(full));
  }
  return g;
}

}  // namespace atc::ops
