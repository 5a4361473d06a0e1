#include <algorithm>
#include <string>

#include "kernels/vector_program.h"
#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/infer_checks.h"
#include "ops/lower.h"
#include "ops/op.h"
#include "ops/reference_util.h"

// Trilu: the upper or lower triangle of the last two axes, zero elsewhere.
namespace atc::ops {
namespace {

constexpr std::string_view kUpper = "upper";  // Int, 1
constexpr std::size_t kDiagonal = 1;          // optional scalar: the diagonal that bounds the triangle, 0

Status infer_trilu(InferContext& ctx) {
  ATC_TRY(require_rank(ctx, 0, 2));
  if (ctx.has_input(kDiagonal)) ATC_TRY(require_dtype(ctx, kDiagonal, {DType::I64}, "type i64"));
  return infer_same_as_input(ctx);
}

Status reference_trilu(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const std::size_t rank = x.shape.size();
  if (rank < 2) return ctx.error("input must have rank 2 or more");
  const bool upper = ctx.node().attrs.get_int(kUpper, 1) != 0;
  if (ctx.has_input(kDiagonal) && ctx.input(kDiagonal).count() != 1) return ctx.error("k must be a scalar");
  const std::int64_t k = ctx.has_input(kDiagonal) ? int_at(ctx.input(kDiagonal), 0) : 0;
  ElementWriter out(x.dtype, x.shape);
  for (NdIndex at(x.shape); !at.done(); at.next()) {
    const std::int64_t diagonal = at[rank - 1] - at[rank - 2];
    if (upper ? diagonal >= k : diagonal <= k) out.copy(at.position(), x, at.position());
  }
  ctx.outputs[0] = std::move(out).freeze();
  return {};
}

// Lowering ------------------------------------------------------------------------------------------

using kernels::RegType;
using kernels::VecOp;

bool lowers_trilu(const ir::Node& node) {
  return kernels::reg_type_of(node.input(0)->type.dtype).has_value();
}

Tensor positions(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = i;
  return from_int64s(DType::I64, {count}, values);
}

/// A comparison of two tables of positions. In 64 bits: the diagonal may be any.
Status lower_trilu(LowerContext& ctx) {
  const ir::Node& n = ctx.node();
  kernels::VectorSpace space;
  space.dims = n.input(0)->type.dims();
  const std::size_t rank = space.dims.size();
  const Dims dense = row_major_strides(space.dims);
  Dims rows(rank, 0), cols(rank, 0);
  rows[rank - 2] = 1;
  cols[rank - 1] = 1;
  space.strides = {dense, rows, cols};
  std::vector<kernels::Operand> operands = {ctx.read(n.input(0)),
                                            ctx.constant(n.name + "/rows", positions(space.dims[rank - 2])),
                                            ctx.constant(n.name + "/cols", positions(space.dims[rank - 1]))};

  kernels::VectorProgram p;
  const RegType type = *kernels::reg_type_of(n.input(0)->type.dtype);
  const int x = p.load(0, type);
  const int row = p.load(1, RegType::I64), col = p.load(2, RegType::I64);
  const int diagonal = p.emit(VecOp::Sub, RegType::I64, col, row);
  int bound = 0;
  if (n.input(kDiagonal) != nullptr) {
    operands.push_back(ctx.read(n.input(kDiagonal)));
    space.strides.emplace_back(rank, 0);
    bound = p.load(3, RegType::I64);
  } else {
    bound = p.constant(RegType::I64, 0);
  }
  const bool upper = n.attrs.get_int(kUpper, 1) != 0;
  const int kept = p.emit(upper ? VecOp::GreaterEqual : VecOp::LessEqual, RegType::I64, diagonal, bound);
  operands.push_back(ctx.write(n.output(0)));
  space.strides.push_back(dense);
  space.offsets.assign(operands.size(), 0);
  p.store(static_cast<int>(operands.size()) - 1, type,
          p.emit(VecOp::Select, type, x, p.constant(type, 0), kept));
  ATC_ASSIGN(kernels::Task task, kernels::make_vector_task(p, space, std::move(operands), ctx.chip()));
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_trilu(Registry& r) {
  r.add({.name = "Trilu",
         .since = 14,
         .attrs = {{kUpper, AttrKind::Int}},
         .inputs = {1, 2},
         .infer = infer_trilu,
         .reference = reference_trilu,
         .lower = lower_trilu,
         .lowers = lowers_trilu});
}

}  // namespace atc::ops
