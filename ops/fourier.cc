#include <algorithm>
#include <complex>
#include <string>
#include <vector>

#include "ops/axis_view.h"
#include "ops/discrete_fourier.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"
#include "ops/shape_value.h"

// DFT and STFT. The last axis of data holds real numbers (length 1) or real and imaginary parts (2).
namespace atc::ops {
namespace {

using Complex = std::complex<double>;

constexpr std::string_view kOnesided = "onesided";  // Int: only frequencies 0 to n / 2
constexpr std::string_view kInverse = "inverse";    // Int, 0

/// The element of a scalar integer input, when it is known.
std::optional<std::int64_t> scalar_of(const InferContext& ctx, std::size_t i) {
  const auto values = literals_of(ctx, i);
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

/// The last axis must have 1 or 2 elements.
Status require_parts(const InferContext& ctx, std::size_t i) {
  if (!ctx.ranked(i)) return {};
  const ir::Dim& parts = ctx.shape(i).back();
  if (!parts.known() || parts.value == 1 || parts.value == 2) return {};
  return ctx.input_error(i, "must have 1 (real) or 2 (complex) elements on its last axis");
}

// DFT: input, dft_length (optional), axis (optional, since 20) ------------------------------------------

constexpr std::size_t kDftLength = 1;
constexpr std::size_t kAxisInput = 2;
constexpr std::string_view kAxis = "axis";  // Int, 1, until 19

/// The transformed axis, none of the last one; nullopt outside.
std::optional<std::int64_t> signal_axis(std::int64_t axis, std::size_t rank) {
  const auto normal = normalize_axis(axis, static_cast<std::int64_t>(rank));
  if (!normal || *normal == static_cast<std::int64_t>(rank) - 1) return std::nullopt;
  return normal;
}

Status bad_axis(const ir::Node& node, std::int64_t axis, std::size_t rank) {
  return InferContext(node).error("axis " + std::to_string(axis) +
                                  " is not one of the signal's axes of an input of rank " +
                                  std::to_string(rank));
}

Status infer_dft(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 2));
  ATC_TRY(require_parts(ctx, 0));
  for (std::size_t i : {kDftLength, kAxisInput})
    if (ctx.has_input(i)) ATC_TRY(require_dtype(ctx, i, kIndexTypes, "type i32 or i64"));
  if (!ctx.ranked(0)) {
    ctx.set_output(0, ctx.dtype(0), std::nullopt);
    return {};
  }
  ir::Shape shape = ctx.shape(0);
  const bool onesided = ctx.node().attrs.get_int(kOnesided, 0) != 0;
  const bool inverse = ctx.node().attrs.get_int(kInverse, 0) != 0;
  const std::int64_t parts = onesided ? (inverse ? 2 : 1) : 0;  // that a onesided transform takes
  if (onesided && conflicts(shape.back(), ir::Dim::of(parts)))
    return ctx.input_error(0, inverse
                                  ? "must be complex: the inverse of a onesided transform has real numbers"
                                  : "must be real for a onesided transform");
  shape.back() = ir::Dim::of(onesided && inverse ? 1 : 2);

  std::optional<std::int64_t> axis = ctx.version() < 20 ? ctx.node().attrs.get_int(kAxis, 1) : -2;
  if (ctx.has_input(kAxisInput)) axis = scalar_of(ctx, kAxisInput);
  if (!axis) {  // which axis changes its length is not known
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) shape[i] = ctx.unknown_dim();
    ctx.set_output(0, ctx.dtype(0), std::move(shape));
    return {};
  }
  const auto normal = signal_axis(*axis, shape.size());
  if (!normal) return bad_axis(ctx.node(), *axis, shape.size());
  ir::Dim& dim = shape[static_cast<std::size_t>(*normal)];
  std::optional<std::int64_t> length;  // of the transform
  if (ctx.has_input(kDftLength))
    length = scalar_of(ctx, kDftLength);
  else if (dim.known())
    length = onesided && inverse ? 2 * (dim.value - 1) : dim.value;
  if (length && *length < 1) return ctx.error("the transform's length is " + std::to_string(*length));
  if (length)
    dim = ir::Dim::of(onesided && !inverse ? *length / 2 + 1 : *length);
  else if (onesided || ctx.has_input(kDftLength))
    dim = ctx.unknown_dim();
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

/// The whole spectrum of a real signal of length `n` out of its first n / 2 + 1 frequencies.
std::vector<Complex> mirrored(const std::vector<Complex>& half, std::size_t n) {
  std::vector<Complex> full(n);
  for (std::size_t k = 0; k <= n / 2 && k < half.size(); ++k) {
    full[k] = half[k];
    if (k > 0) full[n - k] = std::conj(half[k]);
  }
  full[0] = full[0].real();
  if (n % 2 == 0) full[n / 2] = full[n / 2].real();
  return full;
}

Status reference_dft(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool onesided = ctx.node().attrs.get_int(kOnesided, 0) != 0;
  const bool inverse = ctx.node().attrs.get_int(kInverse, 0) != 0;
  const std::int64_t given = ctx.has_input(kAxisInput) ? int_at(ctx.input(kAxisInput), 0)
                             : ctx.version() < 20      ? ctx.node().attrs.get_int(kAxis, 1)
                                                       : -2;
  const auto axis = signal_axis(given, x.shape.size());
  if (!axis) return bad_axis(ctx.node(), given, x.shape.size());
  const auto in_parts = static_cast<std::size_t>(x.shape.back());
  const std::size_t out_parts = onesided && inverse ? 1 : 2;
  const AxisView view = axis_view(x.shape, *axis);
  const auto in_length = static_cast<std::int64_t>(view.length);
  const std::int64_t length = ctx.has_input(kDftLength) ? int_at(ctx.input(kDftLength), 0)
                              : onesided && inverse     ? 2 * (in_length - 1)
                                                        : in_length;
  if (length < 1 || length > (std::int64_t{1} << 40))
    return ctx.error("the transform's length is " + std::to_string(length));
  const auto n = static_cast<std::size_t>(length);
  const std::size_t out_length = onesided && !inverse ? n / 2 + 1 : n;

  Dims shape = x.shape;
  shape[static_cast<std::size_t>(*axis)] = static_cast<std::int64_t>(out_length);
  shape.back() = static_cast<std::int64_t>(out_parts);
  const std::int64_t count = element_count(shape);
  if (count < 0) return ctx.error("[" + to_string(shape) + "] is not a possible shape");
  const std::vector<double> in = to_doubles(x);
  std::vector<double> y(static_cast<std::size_t>(count));
  const std::size_t signals = view.inner / in_parts;  // side by side in each outer row
  for (std::size_t o = 0; o < view.outer; ++o)
    for (std::size_t s = 0; s < signals; ++s) {
      std::vector<Complex> signal(std::min(n, view.length));
      for (std::size_t i = 0; i < signal.size(); ++i) {
        const double* at = in.data() + ((o * view.length + i) * signals + s) * in_parts;
        signal[i] = {at[0], in_parts == 2 ? at[1] : 0.0};
      }
      if (onesided && inverse)
        signal = mirrored(signal, n);
      else
        signal.resize(n);  // zeros behind the end
      const std::vector<Complex> spectrum = discrete_fourier(signal, inverse);
      for (std::size_t k = 0; k < out_length; ++k) {
        double* at = y.data() + ((o * out_length + k) * signals + s) * out_parts;
        at[0] = spectrum[k].real();
        if (out_parts == 2) at[1] = spectrum[k].imag();
      }
    }
  ctx.outputs[0] = from_doubles(x.dtype, shape, y);
  return {};
}

// STFT: signal [batch, length, 1 or 2], frame_step, window (optional), frame_length (optional) ------------

constexpr std::size_t kFrameStep = 1;
constexpr std::size_t kWindow = 2;
constexpr std::size_t kFrameLength = 3;

Status infer_stft(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_rank(ctx, 0, 3, 3));
  ATC_TRY(require_parts(ctx, 0));
  ATC_TRY(require_dtype(ctx, kFrameStep, kIndexTypes, "type i32 or i64"));
  ATC_TRY(require_same_dtype(ctx, kWindow, 0));
  if (ctx.has_input(kWindow)) ATC_TRY(require_rank(ctx, kWindow, 1, 1));
  if (!ctx.has_input(kWindow) && !ctx.has_input(kFrameLength))
    return ctx.error("needs window or frame_length: neither states the length of a frame");
  const bool onesided = ctx.node().attrs.get_int(kOnesided, 1) != 0;
  if (onesided && ctx.ranked(0) && conflicts(ctx.shape(0)[2], ir::Dim::of(1)))
    return ctx.input_error(0, "must be real for a onesided transform; set onesided = 0 for complex signals");

  std::optional<std::int64_t> length;
  if (ctx.has_input(kWindow) && ctx.ranked(kWindow) && ctx.shape(kWindow)[0].known())
    length = ctx.shape(kWindow)[0].value;
  if (ctx.has_input(kFrameLength)) {
    ATC_TRY(require_dtype(ctx, kFrameLength, kIndexTypes, "type i32 or i64"));
    const auto stated = scalar_of(ctx, kFrameLength);
    if (stated && length && *stated != *length)
      return ctx.input_error(kWindow,
                             "must have the frame_length of " + std::to_string(*stated) + " elements");
    if (stated) length = stated;
  }
  const auto step = scalar_of(ctx, kFrameStep);
  ir::Shape shape = {ctx.ranked(0) ? ctx.shape(0)[0] : ctx.unknown_dim(), ctx.unknown_dim(),
                     ctx.unknown_dim(), ir::Dim::of(2)};
  if (step && *step < 1) return ctx.input_error(kFrameStep, "must be at least 1");
  if (length && *length < 1) return ctx.error("the length of a frame is " + std::to_string(*length));
  if (length) shape[2] = ir::Dim::of(onesided ? *length / 2 + 1 : *length);
  if (length && step && ctx.ranked(0) && ctx.shape(0)[1].known()) {
    if (*length > ctx.shape(0)[1].value)
      return ctx.input_error(0, "is shorter than a frame of " + std::to_string(*length));
    shape[1] = ir::Dim::of((ctx.shape(0)[1].value - *length) / *step + 1);
  }
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_stft(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool onesided = ctx.node().attrs.get_int(kOnesided, 1) != 0;
  const std::int64_t step = int_at(ctx.input(kFrameStep), 0);
  const std::vector<double> window =
      ctx.has_input(kWindow) ? to_doubles(ctx.input(kWindow)) : std::vector<double>();
  const std::int64_t length =
      ctx.has_input(kFrameLength) ? int_at(ctx.input(kFrameLength), 0) : std::ssize(window);
  if (step < 1 || length < 1 || length > x.shape[1] || (!window.empty() && std::ssize(window) != length))
    return ctx.error("frame_step " + std::to_string(step) + ", frame_length " + std::to_string(length) +
                     " and a window of " + std::to_string(window.size()) + " do not fit a signal of " +
                     std::to_string(x.shape[1]));
  const std::int64_t frames = (x.shape[1] - length) / step + 1;
  const std::int64_t bins = onesided ? length / 2 + 1 : length;
  const std::int64_t parts = x.shape[2];
  const std::vector<double> in = to_doubles(x);
  std::vector<double> y;
  for (std::int64_t b = 0; b < x.shape[0]; ++b)
    for (std::int64_t f = 0; f < frames; ++f) {
      std::vector<Complex> frame(static_cast<std::size_t>(length));
      for (std::size_t i = 0; i < frame.size(); ++i) {
        const double* at = in.data() + (b * x.shape[1] + f * step + static_cast<std::int64_t>(i)) * parts;
        frame[i] = Complex(at[0], parts == 2 ? at[1] : 0.0) * (window.empty() ? 1.0 : window[i]);
      }
      const std::vector<Complex> spectrum = discrete_fourier(frame, false);
      for (std::int64_t k = 0; k < bins; ++k)
        y.insert(y.end(), {spectrum[static_cast<std::size_t>(k)].real(),
                           spectrum[static_cast<std::size_t>(k)].imag()});
    }
  ctx.outputs[0] = from_doubles(x.dtype, {x.shape[0], frames, bins, 2}, y);
  return {};
}

}  // namespace

void register_fourier(Registry& r) {
  OpDef dft{.name = "DFT",
            .since = 17,
            .until = 19,
            .attrs = {{kAxis, AttrKind::Int}, {kInverse, AttrKind::Int}, {kOnesided, AttrKind::Int}},
            .inputs = {1, 2},
            .infer = infer_dft,
            .reference = reference_dft};
  r.add(dft);
  dft.since = 20;
  dft.until = INT_MAX;
  dft.attrs = {{kInverse, AttrKind::Int}, {kOnesided, AttrKind::Int}};
  dft.inputs = {1, 3};
  r.add(dft);
  r.add({.name = "STFT",
         .since = 17,
         .attrs = {{kOnesided, AttrKind::Int}},
         .inputs = {2, 4},
         .infer = infer_stft,
         .reference = reference_stft});
}

}  // namespace atc::ops
