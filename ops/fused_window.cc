#include "atc/base/math.h"
#include "kernels/window.h"
#include "ops/channels_last.h"
#include "ops/conv_address.h"
#include "ops/epilogue.h"
#include "ops/families.h"
#include "ops/in_place.h"

// atc::MaxPool, atc::AveragePool: input X; atc::DepthwiseConv: inputs X and W ([C1, taps, 16]); all
// on NC1HWC0, followed by what the epilogue reads.
namespace atc::ops {

namespace {

using kernels::WindowKind;
using kernels::WindowSpec;

Status lower_window(LowerContext& ctx) {
  const ir::Node& node = ctx.node();
  const ir::Value* x = node.input(0);
  const Dims xd = x->type.dims(), yd = output_dims(*node.attrs.get_graph("epilogue"), 0);
  const std::size_t rank = xd.size() - 2;
  const bool depthwise = node.op_type == "DepthwiseConv";
  const Dims ones(rank, 1), kernel = node.attrs.get_ints("kernel_shape", ones),
                            strides = node.attrs.get_ints("strides", ones),
                            dilations = node.attrs.get_ints("dilations", ones),
                            pads = node.attrs.get_ints("pads", Dims(2 * rank, 0));
  WindowSpec s;
  s.kind = depthwise                   ? WindowKind::Depthwise
           : node.op_type == "MaxPool" ? WindowKind::Max
                                       : WindowKind::Average;
  s.include_pad = node.attrs.get_int("count_include_pad", 0) != 0;
  s.batch = xd[0];
  s.in_batch = storage_strides(x)[0];
  s.c1 = ceil_div(xd[1], 16);
  for (std::size_t i = 0; i < rank; ++i) {
    kernels::WindowExtent& a = s.axis[3 - rank + i];
    a.in = xd[2 + i];
    a.out = yd[2 + i];
    a.kernel = kernel[i];
    a.stride = strides[i];
    a.dilation = dilations[i];
    a.pad_begin = pads[i];
    a.pad_end = pads[rank + i];
  }
  ATC_ASSIGN(Epilogue e, make_epilogue(ctx, depthwise ? 2 : 1));
  s.epilogue_operands = epilogue_addresses(node, e.values, yd);
  s.epilogue = std::move(e.program);
  std::vector<kernels::Operand> operands = {ctx.read(x)};
  if (depthwise) operands.push_back(ctx.read(node.input(1)));
  operands.insert(operands.end(), e.operands.begin(), e.operands.end());
  ATC_ASSIGN(kernels::Task task, kernels::make_window(s, std::move(operands), ctx.chip()));
  task.macs = node.attrs.get_int("macs", 0);
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_fused_window(Registry& registry) {
  for (std::string_view name : {"AveragePool", "DepthwiseConv", "MaxPool"})
    registry.add({.name = name,
                  .domain = "atc",
                  .since = 0,
                  .attrs = {{"epilogue", AttrKind::Graph, true},
                            {"kernel_shape", AttrKind::Ints},
                            {"pads", AttrKind::Ints},
                            {"strides", AttrKind::Ints},
                            {"dilations", AttrKind::Ints},
                            {"count_include_pad", AttrKind::Int},
                            {"group", AttrKind::Int},
                            {"channels_last", AttrKind::Ints},
                            {"macs", AttrKind::Int}},
                  .inputs = {1, INT_MAX},
                  .outputs = {1, INT_MAX},
                  .infer = infer_epilogue,
                  .lower = lower_window});
}

}  // namespace atc::ops
