#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

// RotaryEmbedding (opset 23): pairs of elements of each head turned by the angles of a cache. Rank 4 is
// [batch, heads, positions, elements]; rank 3 is [batch, positions, heads * elements] with attribute
// num_heads.
namespace atc::ops {

namespace {

constexpr std::string_view kInterleaved = "interleaved";  // Int, 0: pairs are neighbours, else the two halves
constexpr std::string_view kHeads = "num_heads";          // Int, required for rank 3
constexpr std::string_view kTurned =
    "rotary_embedding_dim";  // Int, 0 (all): leading elements that are turned

Status infer_rotary_embedding(InferContext& ctx) {
  ATC_TRY(require_float(ctx, 0));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  ATC_TRY(require_same_dtype(ctx, 2, 0));
  ATC_TRY(require_rank(ctx, 0, 3, 4));
  if (ctx.has_input(3)) ATC_TRY(require_dtype(ctx, 3, {DType::I64}, "type i64"));
  const std::size_t cache_rank = ctx.has_input(3) ? 2 : 3;
  for (std::size_t i : {1, 2}) ATC_TRY(require_rank(ctx, i, cache_rank, cache_rank));
  if (!ctx.ranked(0)) return infer_same_as_input(ctx);
  const ir::Shape& x = ctx.shape(0);
  const std::int64_t heads = ctx.node().attrs.get_int(kHeads, 0);
  if (x.size() == 3 && (heads < 1 || (x[2].known() && x[2].value % heads != 0)))
    return ctx.error("attribute num_heads is " + std::to_string(heads) +
                     ", expected a divisor of the last axis of input 0, which has rank 3");
  const ir::Dim& last = x.back();
  if (last.known()) {
    const std::int64_t size = x.size() == 3 ? last.value / heads : last.value;
    const std::int64_t turned = ctx.node().attrs.get_int(kTurned, 0);
    if (turned < 0 || turned > size || turned % 2 != 0 || (turned == 0 && size % 2 != 0))
      return ctx.error("attribute rotary_embedding_dim is " + std::to_string(turned) +
                       ", expected an even number of the " + std::to_string(size) + " elements of a head");
    const std::int64_t half = (turned == 0 ? size : turned) / 2;
    for (std::size_t i : {1, 2})
      if (ctx.ranked(i) && ctx.shape(i).back().known() && ctx.shape(i).back().value != half)
        return ctx.input_error(i, "has rows of " + std::to_string(ctx.shape(i).back().value) +
                                      " elements, expected " + std::to_string(half));
  }
  return infer_same_as_input(ctx);
}

Status reference_rotary_embedding(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool flat = x.shape.size() == 3;
  const std::int64_t batch = x.shape[0], positions = flat ? x.shape[1] : x.shape[2];
  const std::int64_t heads = flat ? ctx.node().attrs.get_int(kHeads, 1) : x.shape[1];
  const std::int64_t size = flat ? x.shape[2] / heads : x.shape[3];
  const std::int64_t turned = ctx.node().attrs.get_int(kTurned, 0);
  const std::int64_t half = (turned == 0 ? size : turned) / 2;
  const bool interleaved = ctx.node().attrs.get_int(kInterleaved, 0) != 0;
  const std::vector<double> cos = to_doubles(ctx.input(1)), sin = to_doubles(ctx.input(2));
  std::vector<std::int64_t> ids;
  if (ctx.has_input(3)) ids = to_int64s(ctx.input(3));
  const std::int64_t rows = ctx.input(1).count() / std::max<std::int64_t>(half, 1);
  std::vector<double> y = to_doubles(x);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t p = 0; p < positions; ++p) {
      const std::int64_t row =
          ids.empty() ? b * positions + p : ids[static_cast<std::size_t>(b * positions + p)];
      if (row < 0 || row >= rows)
        return ctx.error("position " + std::to_string(row) + " is outside the cache of " +
                         std::to_string(rows) + " rows");
      for (std::int64_t h = 0; h < heads; ++h) {
        double* head =
            y.data() + (flat ? ((b * positions + p) * heads + h) : ((b * heads + h) * positions + p)) * size;
        for (std::int64_t i = 0; i < half; ++i) {
          double& low = head[interleaved ? 2 * i : i];
          double& high = head[interleaved ? 2 * i + 1 : half + i];
          const double c = cos[static_cast<std::size_t>(row * half + i)],
                       s = sin[static_cast<std::size_t>(row * half + i)];
          const double a = low;
          low = a * c - high * s;
          high = a * s + high * c;
        }
      }
    }
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  return {};
}

}  // namespace

void register_rotary_embedding(Registry& registry) {
  registry.add({.name = "RotaryEmbedding",
                .since = 23,
                .attrs = {{kInterleaved, AttrKind::Int}, {kHeads, AttrKind::Int}, {kTurned, AttrKind::Int}},
                .inputs = {3, 4},
                .infer = infer_rotary_embedding,
                .reference = reference_rotary_embedding});
}

}  // namespace atc::ops
