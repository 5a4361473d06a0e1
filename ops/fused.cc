#include <map>

#include "atc/base/check.h"
#include "kernels/padded_vector.h"
#include "ops/body.h"
#include "ops/channels_last.h"
#include "ops/families.h"
#include "ops/fractal_address.h"
#include "ops/fused_views.h"
#include "ops/in_place.h"
#include "ops/input_parts.h"
#include "ops/reference_util.h"

// atc::Fused: a body of elementwise operators, and reductions along one group of neighbouring axes, run as
// one vector program. Inputs and outputs are those of the body; attribute `reduce_axes` names the group,
// `label` what the program is known as. With views (fused_views.h) operands are walked by strides of their
// own. Operands may be in ND beside others in NC1HWC0 where channels are whole blocks or one. Beside operands
// in NC1HWC0_C04, of up to four channels, they may be in either. Operands in FRACTAL_NZ (fractal_address.h)
// have all rows and columns of the space, and stand beside others in ND. An input may be a part of its value
// in ND (input_parts.h, made by view_fusion); such nodes reduce nothing and have no views. On blocks the
// output may be stored channels last (channels_last.h). Behind the body's inputs there may be indices (made
// by embedding_fusion): attribute `gathers` has pairs of an input, a table [rows, elements] of which the body
// sees the rows that an index names, and that index's input number.
namespace atc::ops {

namespace {

using kernels::Operand;
using kernels::VectorProgram;
using kernels::VectorSpace;

constexpr std::string_view kGathers = "gathers";  // Ints

/// The input that names the rows of input i; nullopt when it is no table.
std::optional<std::size_t> index_of(const Dims& gathers, std::size_t i) {
  for (std::size_t k = 0; k + 1 < gathers.size(); k += 2)
    if (gathers[k] == static_cast<std::int64_t>(i)) return static_cast<std::size_t>(gathers[k + 1]);
  return std::nullopt;
}

Status infer_fused(InferContext& ctx) {
  const auto body = ctx.node().attrs.get_graph("body");
  if (body == nullptr || body->outputs().size() != ctx.node().outputs().size())
    return ctx.error("has no body of as many outputs");
  for (std::size_t i = 0; i < body->outputs().size(); ++i) {
    const ir::TensorType& t = body->outputs()[i]->type;
    ctx.set_output(
        i, t.dtype,
        stores_channels_last(ctx.node()) ? ir::to_shape(channels_last_shape(ctx.node())) : *t.shape);
  }
  return {};
}

// The iteration space in logical dims: what all inputs and outputs broadcast to.
Dims space_of(const ir::Graph& body, const std::map<std::size_t, InputPart>& parts) {
  Dims space;
  auto widen = [&](const Dims& dims) {
    if (dims.size() > space.size()) space.insert(space.begin(), dims.size() - space.size(), 1);
    for (std::size_t i = 0; i < dims.size(); ++i) {
      std::int64_t& s = space[space.size() - 1 - i];
      s = std::max(s, dims[dims.size() - 1 - i]);
    }
  };
  for (std::size_t i = 0; i < body.inputs().size(); ++i)
    widen(parts.contains(i) ? parts.at(i).dims : body.inputs()[i]->type.dims());
  for (const ir::Value* v : body.outputs()) widen(v->type.dims());
  return space;
}

// How an operand of `dims` in ND, walked by `by`, lies in the blocked space of logical dims `space`: strides
// along N, C1, spatial axes and the lanes of C0, of which the operand has `lanes` (0: all). nullopt when its
// channels are several blocks that are not whole.
std::optional<Dims> rows_in_blocks(Dims dims, Dims by, const Dims& space, std::int64_t c0,
                                   std::int64_t* lanes) {
  by.insert(by.begin(), space.size() - dims.size(), 0);
  dims.insert(dims.begin(), space.size() - dims.size(), 1);
  const std::int64_t channels = dims[1];
  if (channels > c0 && channels % c0 != 0) return std::nullopt;
  const bool spread = channels == 1 && space[1] != 1;
  Dims strides(space.size() + 1, 0);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (i == 1 ? !spread : dims[i] != 1) strides[i] = by[i];
  strides.back() = strides[1];
  strides[1] *= c0;
  *lanes = !spread && channels < c0 ? channels : 0;
  return strides;
}

// Parts kept in a whole lie further apart along their first axis.
void walk_batch(const ir::Value* v, Dims& strides) {
  const Dims own = storage_strides(v);
  if (own.empty()) return;
  std::int64_t& first = strides[strides.size() - own.size()];
  if (first != 0) first = own[0];
}

// Makes the reduced axes one; every operand walks them as one (the fusion pass saw to it).
Status join_axes(const ir::Node& node, VectorSpace& space, const Dims& axes) {
  if (axes.empty()) return {};
  const std::size_t first = static_cast<std::size_t>(axes.front());
  for (std::size_t n = axes.size(); n > 1; --n) {
    const std::size_t a = first, b = first + 1;
    for (Dims& s : space.strides) {
      const bool joins = s[a] == s[b] * space.dims[b] || space.dims[a] == 1;
      if (!joins && space.dims[b] != 1)
        return cannot_lower(node, "reduces axes that an operand does not walk as one");
      if (space.dims[b] == 1) s[b] = s[a];
      s.erase(s.begin() + static_cast<std::ptrdiff_t>(a));
    }
    space.dims[b] *= space.dims[a];
    space.dims.erase(space.dims.begin() + static_cast<std::ptrdiff_t>(a));
  }
  space.reduce_axis = static_cast<int>(first);
  return {};
}

Status lower_fused(LowerContext& ctx) {
  const ir::Node& node = ctx.node();
  const auto body = node.attrs.get_graph("body");
  ir::Format format = ir::Format::ND;
  auto join_format = [&](const ir::Value* v) {
    if (v->type.format != ir::Format::ND && format != ir::Format::NC1HWC0_C04) format = v->type.format;
  };
  for (const ir::Value* v : node.outputs()) join_format(v);
  for (const ir::Value* v : node.inputs()) join_format(v);

  const std::map<std::size_t, InputPart> parts = input_parts(node);
  // Blocks have the lanes of the tensors in them: one number for all (layout saw to it).
  const DType lanes_of = node.output(0)->type.dtype;
  const std::int64_t c0 = ir::c0_of(format, lanes_of);
  VectorSpace space;
  const auto views = fused_views(node);
  const Dims logical = space_of(*body, parts);
  const bool fractal = format == ir::Format::FRACTAL_NZ;
  space.dims = views ? views->space : fractal ? logical : ir::storage_dims(format, lanes_of, logical);
  std::vector<kernels::OperandLayout> layouts;  // by operand
  std::vector<Operand> operands;
  auto add = [&](const ir::Value* v, Operand operand) -> Status {
    if (views) {
      const FusedViews::Operand& o = views->operands[operands.size()];
      space.strides.push_back(o.strides);
      space.offsets.push_back(o.offset);
      operands.push_back(operand);
      layouts.emplace_back();
      return {};
    }
    if (v->type.format == ir::Format::FRACTAL_NZ) {
      FractalAddress a = fractal_address(v->type.dims());
      a.strides.insert(a.strides.begin(), logical.size() - a.strides.size(), 0);
      space.strides.push_back(std::move(a.strides));
      space.offsets.push_back(0);
      operands.push_back(operand);
      layouts.push_back({0, a.block_stride});
      return {};
    }
    std::int64_t lanes = 0;
    const bool beside_blocks = ir::has_channel_blocks(format) && v->type.format == ir::Format::ND;
    // Of one wide block the first lanes are read as a small one.
    const bool beside_small = format == ir::Format::NC1HWC0_C04 && v->type.format == ir::Format::NC1HWC0;
    const ir::Format walked = beside_small ? v->type.format : fractal ? ir::Format::ND : format;
    auto strides = beside_blocks
                       ? rows_in_blocks(v->type.dims(), storage_strides(v), logical, c0, &lanes)
                       : strides_in_space(v->type.dims(), v->type.format, v->type.dtype, space.dims, walked);
    layouts.push_back({lanes, 0});
    if (!strides)
      return cannot_lower(node,
                          "has an operand in " + ir::to_string(v->type) + " that does not fit its format");
    if (!beside_blocks) walk_batch(v, *strides);
    space.strides.push_back(std::move(*strides));
    space.offsets.push_back(0);
    operands.push_back(operand);
    return {};
  };
  VectorProgram program;
  std::vector<int> regs;
  const Dims gathers = node.attrs.get_ints(kGathers);
  std::vector<kernels::GatheredOperand> gathered;
  for (std::size_t i = 0; i < body->inputs().size(); ++i) {
    const ir::Value* v = node.input(i);
    if (const auto index = index_of(gathers, i); index) {
      Dims strides(space.dims.size(), 0);
      strides.back() = 1;
      space.strides.push_back(std::move(strides));
      space.offsets.push_back(0);
      gathered.push_back({operands.size(), *index, v->type.dims()[0], v->type.dims()[1]});
      operands.push_back(ctx.read(v));
      layouts.emplace_back();
    } else if (const auto part = parts.find(i); part != parts.end()) {
      Dims strides(space.dims.size(), 0);
      std::int64_t lanes = 0;
      if (ir::has_channel_blocks(format)) {
        auto in_blocks = rows_in_blocks(part->second.dims, part->second.strides, logical, c0, &lanes);
        ATC_CHECK(in_blocks.has_value(), node.label() + " reads a part of blocks that are not whole");
        strides = std::move(*in_blocks);
      } else {
        for (std::size_t d = 0; d < part->second.dims.size(); ++d)
          if (part->second.dims[d] != 1)
            strides[space.dims.size() - part->second.dims.size() + d] = part->second.strides[d];
      }
      space.strides.push_back(std::move(strides));
      space.offsets.push_back(part->second.first);
      operands.push_back(ctx.read(v));
      layouts.push_back({lanes, 0});
    } else {
      ATC_TRY(add(v, ctx.read(v)));
    }
    regs.push_back(program.load(static_cast<int>(operands.size()) - 1, *aicore::reg_type_of(v->type.dtype)));
  }
  for (std::size_t i = body->inputs().size(); i < node.inputs().size(); ++i) {
    const ir::Value* v = node.input(i);
    Dims dims = v->type.dims();
    dims.push_back(1);
    for (kernels::GatheredOperand& g : gathered)
      if (g.index == i) g.index = operands.size();
    space.strides.push_back(kernels::broadcast_strides(dims, space.dims));
    space.offsets.push_back(0);
    operands.push_back(ctx.read(v));
    layouts.emplace_back();
  }
  ATC_ASSIGN(const std::vector<int> results, emit_body(*body, program, regs));
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    const ir::Value* v = node.output(i);
    if (stores_channels_last(node)) {
      const Dims dims = output_dims(*body, i);
      std::int64_t lanes = 0;
      auto strides = rows_in_blocks(dims, channels_last_strides(dims), logical, c0, &lanes);
      ATC_CHECK(strides.has_value() && ir::has_channel_blocks(format),
                node.label() + " stores channels last what is not in whole blocks");
      space.strides.push_back(std::move(*strides));
      space.offsets.push_back(0);
      operands.push_back(ctx.write(v));
      layouts.push_back({lanes, 0});
    } else {
      ATC_TRY(add(v, ctx.write(v)));
    }
    program.store(static_cast<int>(operands.size()) - 1, program.type_of(results[i]), results[i]);
  }
  ATC_TRY(join_axes(node, space, node.attrs.get_ints("reduce_axes")));
  ATC_ASSIGN(kernels::Task task, kernels::make_padded_vector_task(program, space, layouts,
                                                                  std::move(operands), ctx.chip(), gathered));
  std::string label = node.attrs.get_string("label", "");
  if (label.empty())
    for (const auto& n : body->nodes()) label += (label.empty() ? "" : "+") + n->op_type;
  ctx.emit(std::move(task), label);
  return {};
}

}  // namespace

void register_fused(Registry& registry) {
  registry.add({.name = "Fused",
                .domain = "atc",
                .since = 0,
                .attrs = {{"body", AttrKind::Graph, true},
                          {"channels_last", AttrKind::Ints},
                          {kGathers, AttrKind::Ints},
                          {"label", AttrKind::String},
                          {"parts", AttrKind::Ints},
                          {"reduce_axes", AttrKind::Ints},
                          {"space", AttrKind::Ints},
                          {"views", AttrKind::Ints}},
                .inputs = {0, INT_MAX},
                .outputs = {1, INT_MAX},
                .infer = infer_fused,
                .lower = lower_fused});
}

}  // namespace atc::ops
