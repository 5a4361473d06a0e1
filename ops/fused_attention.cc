#include "ops/fused_attention.h"

#include "ops/families.h"
#include "ops/fractal_address.h"
#include "ops/op.h"

namespace atc::ops {

namespace {

using kernels::AttentionMask;
using kernels::AttentionSpec;
using kernels::HeadAddress;

constexpr const char* kShape = "shape";        // Ints: dims of the output
constexpr const char* kSizes = "sizes";        // Ints: batch, heads, key heads, query rows, d, dv
constexpr const char* kSegments = "segments";  // Ints: key positions of each segment
constexpr const char* kViews = "views";  // Ints: of Q, the output, then K and V of each segment, four each:
                                         // offset, batch, head and row strides
constexpr const char* kMaskView = "mask_view";           // Ints: offset, batch, head, row and column strides
constexpr const char* kMaskKind = "mask_kind";           // Int: AttentionMask::Kind
constexpr const char* kMaskFill = "mask_fill";           // Float
constexpr const char* kBiasView = "bias_view";           // Ints: as kMaskView
constexpr const char* kBiasBehind = "bias_behind_mask";  // Int
constexpr const char* kScale = "scale";                  // Float
constexpr const char* kSoftcap = "softcap";              // Float, 0: none
constexpr const char* kHiddenRows = "hidden_rows_are_zero";  // Int
constexpr const char* kKTransposed = "k_transposed";         // Int
constexpr const char* kCausal = "causal";                    // Int
constexpr const char* kCausalOffset = "causal_offset";       // Int

Dims view_of(const AttentionMask& m) {
  return {m.offset, m.batch_stride, m.head_stride, m.row_stride, m.col_stride};
}

AttentionMask mask_of(AttentionMask::Kind kind, const Dims& view, double fill) {
  return {kind, view[0], view[1], view[2], view[3], view[4], fill};
}

void append(Dims& to, const HeadAddress& a) {
  to.insert(to.end(), {a.offset, a.batch_stride, a.head_stride, a.row_stride});
}

HeadAddress head_at(const Dims& views, std::size_t i) {
  return {views[4 * i], views[4 * i + 1], views[4 * i + 2], views[4 * i + 3]};
}

Status infer_attention(InferContext& ctx) {
  if (!attention_of(ctx.node())) return ctx.error("has attributes that describe no attention");
  const Dims& shape = ctx.node().attrs.get_ints(kShape);
  ir::Shape out;
  for (std::int64_t d : shape) out.push_back(ir::Dim::of(d));
  ctx.set_output(0, ctx.dtype(0), std::move(out));
  return {};
}

Status lower_attention(LowerContext& ctx) {
  const ir::Node& node = ctx.node();
  auto spec = attention_of(node);
  ATC_CHECK(spec.has_value(), node.label() + " describes no attention");
  for (const AttentionHeads& h : attention_heads(node, *spec)) {
    if (h.value->type.format != ir::Format::FRACTAL_NZ) continue;
    const auto at = fractal_head(*h.address, h.value->type.dims(), spec->batch, h.heads, h.rows, h.width);
    if (!at)
      return cannot_lower(node, "has heads in " + ir::to_string(h.value->type) + " that are no blocks");
    *h.address = *at;
  }
  std::vector<kernels::Operand> operands = {ctx.read(node.input(0)), ctx.write(node.output(0))};
  if (node.input(1) != nullptr) operands.push_back(ctx.read(node.input(1)));
  std::size_t end = node.inputs().size();
  if (spec->bias.kind != AttentionMask::Kind::None) operands.push_back(ctx.read(node.input(--end)));
  for (std::size_t i = 2; i < end; ++i) operands.push_back(ctx.read(node.input(i)));
  ATC_ASSIGN(kernels::Task task, kernels::make_attention_task(*spec, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task), "FlashAttentionScore");
  return {};
}

}  // namespace

void set_attention(ir::Node& node, const AttentionSpec& s, const Dims& shape) {
  ir::Attributes& a = node.attrs;
  a.set(kShape, shape);
  a.set(kSizes, Dims{s.batch, s.heads, s.kv_heads, s.rows, s.d, s.dv});
  Dims lengths, views;
  append(views, s.q);
  append(views, s.out);
  for (const kernels::KvSegment& segment : s.segments) {
    lengths.push_back(segment.length);
    append(views, segment.k);
    append(views, segment.v);
  }
  a.set(kSegments, lengths);
  a.set(kViews, views);
  a.set(kScale, static_cast<float>(s.scale));
  if (s.softcap > 0) a.set(kSoftcap, static_cast<float>(s.softcap));
  if (s.hidden_rows_are_zero) a.set(kHiddenRows, std::int64_t{1});
  if (s.k_transposed) a.set(kKTransposed, std::int64_t{1});
  if (s.causal) {
    a.set(kCausal, std::int64_t{1});
    a.set(kCausalOffset, s.causal_offset);
  }
  if (s.bias.kind != AttentionMask::Kind::None) {
    a.set(kBiasView, view_of(s.bias));
    if (s.bias_behind_mask) a.set(kBiasBehind, std::int64_t{1});
  }
  const AttentionMask& m = s.mask;
  if (m.kind == AttentionMask::Kind::None) return;
  a.set(kMaskKind, static_cast<std::int64_t>(m.kind));
  a.set(kMaskView, view_of(m));
  if (m.kind != AttentionMask::Kind::Add) a.set(kMaskFill, static_cast<float>(m.fill));
}

bool has_bias(const ir::Node& attention) { return attention.attrs.has(kBiasView); }

std::optional<AttentionSpec> attention_of(const ir::Node& node) {
  const ir::Attributes& a = node.attrs;
  const Dims sizes = a.get_ints(kSizes), lengths = a.get_ints(kSegments), views = a.get_ints(kViews);
  if (sizes.size() != 6 || lengths.empty() || views.size() != 8 + 8 * lengths.size()) return std::nullopt;
  const bool biased = has_bias(node);
  if (node.inputs().size() != 2 + 2 * lengths.size() + (biased ? 1 : 0)) return std::nullopt;
  for (std::size_t i = 2; i < node.inputs().size(); ++i)
    if (node.input(i) == nullptr) return std::nullopt;
  AttentionSpec s;
  s.batch = sizes[0];
  s.heads = sizes[1];
  s.kv_heads = sizes[2];
  s.rows = sizes[3];
  s.d = sizes[4];
  s.dv = sizes[5];
  s.q = head_at(views, 0);
  s.out = head_at(views, 1);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    s.segments.push_back({lengths[i], head_at(views, 2 + 2 * i), head_at(views, 3 + 2 * i)});
  s.scale = a.get_float(kScale, 1.0F);
  s.softcap = a.get_float(kSoftcap, 0.0F);
  s.k_transposed = a.get_int(kKTransposed, 0) != 0;
  s.hidden_rows_are_zero = a.get_int(kHiddenRows, 0) != 0;
  s.causal = a.get_int(kCausal, 0) != 0;
  s.causal_offset = a.get_int(kCausalOffset, 0);
  if (biased) {
    const Dims bias = a.get_ints(kBiasView);
    if (bias.size() != 5) return std::nullopt;
    s.bias = mask_of(AttentionMask::Kind::Add, bias, 0);
    s.bias_behind_mask = a.get_int(kBiasBehind, 0) != 0;
  }
  const std::int64_t kind = a.get_int(kMaskKind, 0);
  if (kind < 0 || kind > 3 || (kind != 0) != (node.input(1) != nullptr)) return std::nullopt;
  if (kind == 0) return s;
  const Dims mask = a.get_ints(kMaskView);
  if (mask.size() != 5) return std::nullopt;
  s.mask = mask_of(static_cast<AttentionMask::Kind>(kind), mask, a.get_float(kMaskFill, 0.0F));
  return s;
}

std::vector<AttentionHeads> attention_heads(const ir::Node& node, AttentionSpec& s) {
  std::vector<AttentionHeads> out = {{node.input(0), &s.q, s.heads, s.rows, s.d},
                                     {node.output(0), &s.out, s.heads, s.rows, s.dv}};
  for (std::size_t i = 0; i < s.segments.size(); ++i) {
    kernels::KvSegment& segment = s.segments[i];
    out.push_back({node.input(2 + 2 * i), &segment.k, s.kv_heads, segment.length, s.d, s.k_transposed});
    out.push_back({node.input(3 + 2 * i), &segment.v, s.kv_heads, segment.length, s.dv});
  }
  return out;
}

void register_fused_attention(Registry& registry) {
  registry.add({.name = "Attention",
                .domain = "atc",
                .since = 0,
                .attrs = {{kShape, AttrKind::Ints, true},
                          {kSizes, AttrKind::Ints, true},
                          {kSegments, AttrKind::Ints, true},
                          {kViews, AttrKind::Ints, true},
                          {kMaskView, AttrKind::Ints},
                          {kMaskKind, AttrKind::Int},
                          {kMaskFill, AttrKind::Float},
                          {kBiasView, AttrKind::Ints},
                          {kBiasBehind, AttrKind::Int},
                          {kScale, AttrKind::Float},
                          {kSoftcap, AttrKind::Float},
                          {kHiddenRows, AttrKind::Int},
                          {kKTransposed, AttrKind::Int},
                          {kCausal, AttrKind::Int},
                          {kCausalOffset, AttrKind::Int}},
                .inputs = {4, INT_MAX},
                .infer = infer_attention,
                .lower = lower_attention});
}

}  // namespace atc::ops
