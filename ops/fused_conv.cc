#include "atc/base/check.h"
#include "atc/base/math.h"
#include "kernels/cube_conv.h"
#include "ops/channels_last.h"
#include "ops/conv_address.h"
#include "ops/epilogue.h"
#include "ops/families.h"
#include "ops/in_place.h"

// atc::Conv and atc::ConvTranspose: inputs X (NC1HWC0), W (FRACTAL_Z with logical dims O, I per
// group, kernel), then what the epilogue reads (NC1HWC0, or ND of one element). A Conv of one group takes X
// in NC1HWC0_C04 with W in FRACTAL_Z_C04 too. Attributes are those of the
// ONNX operator with `pads` and `output` explicit; `group` counts groups of whole C0 blocks.
// Of int8 X and W the accumulator is i32 and `pad_value` what X holds where it is padded (its zero point).
namespace atc::ops {

namespace {

using kernels::ConvPhase;
using kernels::ConvSpec;
using kernels::ConvTap;

struct Window {
  std::array<std::int64_t, 3> kernel, stride, dilation, pad, out;
};

// fn(tap number, {kd, kh, kw}).
template <class F>
void for_taps(const Window& w, F fn) {
  std::int64_t tap = 0;
  for (std::int64_t d = 0; d < w.kernel[0]; ++d)
    for (std::int64_t h = 0; h < w.kernel[1]; ++h)
      for (std::int64_t x = 0; x < w.kernel[2]; ++x) fn(tap++, std::array<std::int64_t, 3>{d, h, x});
}

// `depth_taps` numbers of taps belong to each depth.
ConvPhase forward_phase(const Window& w, std::int64_t depth_taps) {
  ConvPhase p;
  p.count = w.out;
  for_taps(w, [&](std::int64_t, const std::array<std::int64_t, 3>& k) {
    ConvTap t{k[0] * depth_taps + k[1] * w.kernel[2] + k[2], {}};
    for (std::size_t i = 0; i < 3; ++i) t.shift[i] = k[i] * w.dilation[i] - w.pad[i];
    p.taps.push_back(t);
  });
  return p;
}

// Output o of a transposed convolution collects input (o + pad - k * dilation) / stride of the taps for which
// that is whole: positions with the same remainder share them.
ConvPhase transposed_phase(const Window& w, const std::array<std::int64_t, 3>& start) {
  ConvPhase p;
  p.start = start;
  p.step = w.stride;
  for (std::size_t i = 0; i < 3; ++i) p.count[i] = ceil_div(w.out[i] - start[i], w.stride[i]);
  for_taps(w, [&](std::int64_t tap, const std::array<std::int64_t, 3>& k) {
    ConvTap t{tap, {}};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t from = start[i] + w.pad[i] - k[i] * w.dilation[i];
      if (from % w.stride[i] != 0) return;
      t.shift[i] = from / w.stride[i];
    }
    p.taps.push_back(t);
  });
  // Positions that no input reaches get what a tap outside the plane gives: zero.
  if (p.taps.empty()) p.taps.push_back({0, {0, -(std::int64_t{1} << 20), 0}});
  return p;
}

Status lower_conv(LowerContext& ctx) {
  const ir::Node& node = ctx.node();
  const ir::Value* x = node.input(0);
  const ir::Value* weight = node.input(1);
  const Dims xd = x->type.dims(), wd = weight->type.dims();
  const bool transposed = node.op_type == "ConvTranspose";
  const Dims yd = output_dims(*node.attrs.get_graph("epilogue"), 0);
  const Dims out(yd.begin() + 2, yd.end());
  const std::size_t rank = out.size();
  const Dims ones(rank, 1);
  Window w{three(Dims(wd.begin() + 2, wd.end()), 1),
           three(node.attrs.get_ints("strides", ones), 1),
           three(node.attrs.get_ints("dilations", ones), 1),
           {},
           three(out, 1)};
  const Dims pads = node.attrs.get_ints("pads", Dims(2 * rank, 0));
  w.pad = three(Dims(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank)), 0);

  ConvSpec s;
  s.batch = xd[0];
  s.in_batch = storage_strides(x)[0];
  s.groups = node.attrs.get_int("group", 1);
  const std::int64_t c0 = ir::c0_of(x->type.format, x->type.dtype);
  s.k1 = ceil_div(wd[1], c0);
  // Taps side by side fill fractals depth by depth.
  s.taps_in_fractal = ir::c0_of(x->type.dtype) / c0;
  const std::int64_t depth_taps = round_up(w.kernel[1] * w.kernel[2], s.taps_in_fractal);
  ATC_CHECK(s.taps_in_fractal == 1 || !transposed, node.label() + " reads blocks of four channels");
  // Groups fill whole blocks, but for the last one.
  s.k_last = xd[1] - (s.groups * s.k1 - 1) * c0;
  s.pad = node.attrs.get_int("pad_value", 0);
  s.n1 = ceil_div(ceil_div(wd[0], s.groups), 16);
  s.taps = w.kernel[0] * depth_taps;
  s.in = three(Dims(xd.begin() + 2, xd.end()), 1);
  if (!transposed) {
    s.in_stride = w.stride;
    s.phases = {forward_phase(w, depth_taps)};
  } else {
    for (std::int64_t d = 0; d < std::min(w.stride[0], w.out[0]); ++d)
      for (std::int64_t h = 0; h < std::min(w.stride[1], w.out[1]); ++h)
        for (std::int64_t v = 0; v < std::min(w.stride[2], w.out[2]); ++v)
          s.phases.push_back(transposed_phase(w, {d, h, v}));
  }
  ATC_ASSIGN(Epilogue e, make_epilogue(ctx, 2));
  s.epilogue_operands = epilogue_addresses(node, e.values, yd);
  s.epilogue = std::move(e.program);
  std::vector<kernels::Operand> operands = {ctx.read(x), ctx.read(weight)};
  operands.insert(operands.end(), e.operands.begin(), e.operands.end());
  ATC_ASSIGN(kernels::Task task, kernels::make_conv_task(s, std::move(operands), ctx.chip()));
  task.macs = node.attrs.get_int("macs", 0);
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_fused_conv(Registry& registry) {
  for (std::string_view name : {"Conv", "ConvTranspose"})
    registry.add({.name = name,
                  .domain = "atc",
                  .since = 0,
                  .attrs = {{"epilogue", AttrKind::Graph, true},
                            {"pads", AttrKind::Ints},
                            {"strides", AttrKind::Ints},
                            {"dilations", AttrKind::Ints},
                            {"group", AttrKind::Int},
                            {"pad_value", AttrKind::Int},
                            {"channels_last", AttrKind::Ints},
                            {"macs", AttrKind::Int}},
                  .inputs = {2, INT_MAX},
                  .outputs = {1, INT_MAX},
                  .infer = infer_epilogue,
                  .lower = lower_conv});
}

}  // namespace atc::ops
