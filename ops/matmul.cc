#include "ops/matmul.h"

#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/reference_util.h"

namespace atc::ops {

namespace {

constexpr DTypeSet kProductTypes = kFloatTypes | DTypeSet{DType::I32, DType::I64, DType::U32, DType::U64};

Status check_product_dtypes(const InferContext& ctx, int integers_since) {
  if (ctx.version() < integers_since)
    ATC_TRY(require_float(ctx, 0));
  else
    ATC_TRY(require_dtype(ctx, 0, kProductTypes, "a float type or a 32- or 64-bit integer"));
  ATC_TRY(require_same_dtype(ctx, 1, 0));
  return require_same_dtype(ctx, 2, 0);
}

/// Integer elements as unsigned words, in which products and sums wrap.
std::vector<std::uint64_t> to_words(const Tensor& t) {
  const std::vector<std::int64_t> v = to_int64s(t);
  return {v.begin(), v.end()};
}

Tensor from_words(DType dtype, Dims shape, const std::vector<std::uint64_t>& words) {
  return from_int64s(dtype, std::move(shape), std::vector<std::int64_t>(words.begin(), words.end()));
}

// MatMul ------------------------------------------------------------------------------------------

Status infer_matmul(InferContext& ctx) {
  ATC_TRY(check_product_dtypes(ctx, 9));
  ATC_ASSIGN(std::optional<ir::Shape> shape, matmul_output_shape(ctx, 0, 1));
  ctx.set_output(0, ctx.dtype(0), std::move(shape));
  return {};
}

Status reference_matmul(EvalContext& ctx) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  const auto g = matmul_geometry(a.shape, b.shape);
  if (!g)
    return ctx.error("shapes [" + to_string(a.shape) + "] and [" + to_string(b.shape) +
                     "] cannot be multiplied");
  ctx.outputs[0] = is_integer(a.dtype)
                       ? from_words(a.dtype, g->output, multiply(to_words(a), to_words(b), *g))
                       : from_doubles(a.dtype, g->output, multiply(to_doubles(a), to_doubles(b), *g));
  return {};
}

// Gemm --------------------------------------------------------------------------------------------

/// C must broadcast to [m, n]; versions before 7 want the attribute `broadcast` for that.
Status check_gemm_addend(const InferContext& ctx, const ir::Dim& m, const ir::Dim& n) {
  if (!ctx.has_input(2) || !ctx.ranked(2)) return {};
  const ir::Shape& c = ctx.shape(2);
  const bool broadcasts = ctx.version() >= 7 || ctx.node().attrs.get_int("broadcast", 0) != 0;
  const ir::Shape target = {m, n};
  bool fits = broadcasts ? c.size() <= 2 : c.size() == 2;
  for (std::size_t i = 0; fits && i < c.size(); ++i) {
    const ir::Dim& want = target[2 - c.size() + i];
    fits = !conflicts(c[i], want) || (broadcasts && c[i].value == 1);
  }
  if (fits) return {};
  return ctx.input_error(2, std::string("does not ") +
                                (broadcasts ? "broadcast to" : "equal (broadcast is 0)") + " the product [" +
                                ir::to_string(target) + "]");
}

Status infer_gemm(InferContext& ctx) {
  ATC_TRY(check_product_dtypes(ctx, 9));
  const auto& attrs = ctx.node().attrs;
  const std::size_t m_axis = attrs.get_int("transA", 0) != 0 ? 1 : 0;
  const std::size_t n_axis = attrs.get_int("transB", 0) != 0 ? 0 : 1;
  ATC_TRY(require_rank(ctx, 0, 2, 2));
  ATC_TRY(require_rank(ctx, 1, 2, 2));
  ir::Dim m = ctx.ranked(0) ? ctx.shape(0)[m_axis] : ctx.unknown_dim();
  ir::Dim n = ctx.ranked(1) ? ctx.shape(1)[n_axis] : ctx.unknown_dim();
  if (ctx.ranked(0) && ctx.ranked(1)) {
    const ir::Dim& ka = ctx.shape(0)[1 - m_axis];
    const ir::Dim& kb = ctx.shape(1)[1 - n_axis];
    if (conflicts(ka, kb))
      return ctx.input_error(1, "has inner size " + std::to_string(kb.value) + ", expected " +
                                    std::to_string(ka.value) + " as input 0 has (transA " +
                                    std::to_string(m_axis) + ", transB " + std::to_string(1 - n_axis) + ")");
  }
  ATC_TRY(check_gemm_addend(ctx, m, n));
  ctx.set_output(0, ctx.dtype(0), ir::Shape{std::move(m), std::move(n)});
  return {};
}

template <class T>
std::vector<T> transposed_if(bool yes, std::vector<T> v, const Dims& shape) {
  if (!yes) return v;
  std::vector<T> out(v.size());
  const auto rows = static_cast<std::size_t>(shape[0]);
  const auto columns = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = v[i * columns + j];
  return out;
}

/// value * factor. An integer is scaled through double only where the factor is not 1: the product is
/// then cut toward zero.
double scaled(double value, float factor) { return value * static_cast<double>(factor); }
std::uint64_t scaled(std::uint64_t value, float factor) {
  if (factor == 1.0F) return value;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(
      static_cast<double>(static_cast<std::int64_t>(value)) * static_cast<double>(factor)));
}

/// alpha * product + beta * addend, the addend broadcast to [m, n].
template <class T>
void scale_and_add(std::vector<T>& y, const Dims& shape, const std::vector<T>& c, const Dims* c_shape,
                   const ir::Node& node) {
  const float alpha = node.attrs.get_float("alpha", 1.0F);
  const float beta = node.attrs.get_float("beta", 1.0F);
  for (T& v : y) v = scaled(v, alpha);
  if (!c_shape) return;
  for (StridedWalk w(shape, {strides_over(*c_shape, shape)}); !w.done(); w.next())
    y[static_cast<std::size_t>(w.position())] += scaled(c[static_cast<std::size_t>(w.offset())], beta);
}

Status reference_gemm(EvalContext& ctx) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  const bool trans_a = ctx.node().attrs.get_int("transA", 0) != 0;
  const bool trans_b = ctx.node().attrs.get_int("transB", 0) != 0;
  MatMulGeometry g;
  g.m = a.shape[trans_a ? 1 : 0];
  g.k = a.shape[trans_a ? 0 : 1];
  g.n = b.shape[trans_b ? 0 : 1];
  g.output = {g.m, g.n};
  const Dims* c_shape = ctx.has_input(2) ? &ctx.input(2).shape : nullptr;
  const auto run = [&](auto read) {
    auto y = multiply(transposed_if(trans_a, read(a), a.shape), transposed_if(trans_b, read(b), b.shape), g);
    const auto c = c_shape ? read(ctx.input(2)) : decltype(y)();
    scale_and_add(y, g.output, c, c_shape, ctx.node());
    return y;
  };
  ctx.outputs[0] = is_integer(a.dtype) ? from_words(a.dtype, g.output, run(to_words))
                                       : from_doubles(a.dtype, g.output, run(to_doubles));
  return {};
}

}  // namespace

std::optional<MatMulGeometry> matmul_geometry(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty()) return std::nullopt;
  MatMulGeometry g;
  g.m = a.size() > 1 ? a[a.size() - 2] : 1;
  g.k = a.back();
  g.n = b.size() > 1 ? b.back() : 1;
  if ((b.size() > 1 ? b[b.size() - 2] : b[0]) != g.k) return std::nullopt;
  if (a.size() > 2) g.a_batch.assign(a.begin(), a.end() - 2);
  if (b.size() > 2) g.b_batch.assign(b.begin(), b.end() - 2);
  const auto batch = broadcast_dims(g.a_batch, g.b_batch);
  if (!batch) return std::nullopt;
  g.batch = *batch;
  g.output = g.batch;
  if (a.size() > 1) g.output.push_back(g.m);
  if (b.size() > 1) g.output.push_back(g.n);
  return g;
}

StatusOr<std::optional<ir::Shape>> matmul_output_shape(InferContext& ctx, std::size_t a, std::size_t b) {
  ATC_TRY(require_rank(ctx, a, 1));
  ATC_TRY(require_rank(ctx, b, 1));
  if (!ctx.ranked(a) || !ctx.ranked(b)) return std::optional<ir::Shape>();
  const ir::Shape& sa = ctx.shape(a);
  const ir::Shape& sb = ctx.shape(b);
  const ir::Dim& ka = sa.back();
  const ir::Dim& kb = sb.size() > 1 ? sb[sb.size() - 2] : sb[0];
  if (conflicts(ka, kb))
    return ctx.input_error(b, "has inner size " + std::to_string(kb.value) + ", expected " +
                                  std::to_string(ka.value) + " as input " + std::to_string(a) + " [" +
                                  ir::to_string(sa) + "] has");
  const auto batch_of = [](const ir::Shape& s) {
    return s.size() > 2 ? ir::Shape(s.begin(), s.end() - 2) : ir::Shape();
  };
  std::optional<ir::Shape> out = broadcast(batch_of(sa), batch_of(sb));
  if (!out)
    return ctx.input_error(b, "has batch dims [" + ir::to_string(batch_of(sb)) +
                                  "], which do not broadcast with those of input " + std::to_string(a) +
                                  " [" + ir::to_string(batch_of(sa)) + "]");
  if (sa.size() > 1) out->push_back(sa[sa.size() - 2]);
  if (sb.size() > 1) out->push_back(sb.back());
  return out;
}

template <class T>
std::vector<T> multiply(const std::vector<T>& a, const std::vector<T>& b, const MatMulGeometry& g) {
  const std::int64_t y_size = g.m * g.n;
  std::vector<T> y(static_cast<std::size_t>(element_count(g.output)), T{});
  for (StridedWalk w(g.batch, {strides_over(g.a_batch, g.batch), strides_over(g.b_batch, g.batch)});
       !w.done(); w.next())
    multiply_add(a.data() + w.offset(0) * g.m * g.k, b.data() + w.offset(1) * g.k * g.n,
                 y.data() + w.position() * y_size, g.m, g.k, g.n);
  return y;
}

template std::vector<double> multiply(const std::vector<double>&, const std::vector<double>&,
                                      const MatMulGeometry&);
template std::vector<std::uint64_t> multiply(const std::vector<std::uint64_t>&,
                                             const std::vector<std::uint64_t>&, const MatMulGeometry&);

void register_matmul(Registry& registry) {
  registry.add({.name = "MatMul", .inputs = {2, 2}, .infer = infer_matmul, .reference = reference_matmul});
  const std::vector<AttrSpec> attrs = {{"alpha", AttrKind::Float},
                                       {"beta", AttrKind::Float},
                                       {"broadcast", AttrKind::Int, false, 1, 6},
                                       {"transA", AttrKind::Int},
                                       {"transB", AttrKind::Int}};
  registry.add({.name = "Gemm",
                .until = 10,
                .attrs = attrs,
                .inputs = {3, 3},
                .infer = infer_gemm,
                .reference = reference_gemm});
  registry.add({.name = "Gemm",
                .since = 11,
                .attrs = attrs,
                .inputs = {2, 3},
                .infer = infer_gemm,
                .reference = reference_gemm});
}

}  // namespace atc::ops
