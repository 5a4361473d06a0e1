#include "kernels/cube_matmul.h"
#include "ops/epilogue.h"
#include "ops/families.h"
#include "ops/fractal_address.h"
#include "ops/matmul.h"

// atc::MatMul: inputs A [..., M, K], B, then what the epilogue reads. B is a constant packed in FRACTAL_Z
// (logical N, K), or [..., K, N], or [..., N, K] with attribute trans_b = 1; A is [..., K, M] with trans_a
// = 1. Ranks are at least 2. Of int8 A and B the accumulator is i32. Activations, A, B and what the epilogue
// reads and stores, may be in FRACTAL_NZ (fractal_address.h), those of the epilogue when they have all rows
// and columns of the output.
namespace atc::ops {

namespace {

using kernels::MatMulSpec;
using kernels::MatrixAddress;

bool is_fractal(const ir::Value* v) { return v->type.format == ir::Format::FRACTAL_NZ; }

// Batch strides of a tensor of dims `dims`, whose matrices have `stride` elements, in the batch dims of the
// output.
Dims batch_strides(const Dims& dims, const Dims& batch, std::int64_t stride) {
  Dims out(batch.size(), 0);
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) {
    const std::size_t d = dims.size() - 3 - i, b = batch.size() - 1 - i;
    out[b] = dims[d] == 1 ? 0 : stride;
    stride *= dims[d];
  }
  return out;
}

// Of A or B, an activation.
MatrixAddress operand_address(const ir::Value* v, const Dims& batch) {
  const Dims dims = v->type.dims();
  const std::int64_t rows = dims[dims.size() - 2];
  if (!is_fractal(v)) return {0, batch_strides(dims, batch, rows * dims.back()), dims.back(), 0};
  const FractalAddress a = fractal_address(dims);
  return {0, batch_strides(dims, batch, dims.back() / kernels::kBlockCols * a.block_stride),
          kernels::kBlockCols, 0, a.block_stride};
}

// An operand of the epilogue, broadcast against [batch..., M, N].
MatrixAddress epilogue_address(const ir::Value* v, const Dims& output) {
  const Dims dims = v->type.dims();
  Dims strides;
  MatrixAddress a;
  if (is_fractal(v)) {
    FractalAddress f = fractal_address(dims);
    strides = std::move(f.strides);
    strides.insert(strides.begin(), output.size() - dims.size(), 0);
    a.block_stride = f.block_stride;
  } else {
    strides = kernels::broadcast_strides(dims, output);
  }
  a.batch_strides.assign(strides.begin(), strides.end() - 2);
  a.row_stride = strides[strides.size() - 2];
  a.col_stride = strides.back();
  return a;
}

// Rows of consecutive batches become rows of one product where B is the same for all of them.
void merge_batches(MatMulSpec& s) {
  while (!s.batch.empty()) {
    const std::int64_t count = s.batch.back();
    if ((s.b.batch_strides.back() != 0 || s.a_transposed) && count != 1) return;
    // A single row has any stride: that of the batches, which joins them.
    if (s.m == 1 && count != 1 && s.a.batch_strides.back() != 0) {
      s.a.row_stride = s.a.batch_strides.back();
      for (MatrixAddress& a : s.epilogue_operands) a.row_stride = a.batch_strides.back();
    }
    auto joins = [&](const MatrixAddress& a) {
      if (count != 1 && a.block_stride != 0) return false;  // padding lies between
      return count == 1 || a.batch_strides.back() == s.m * a.row_stride;
    };
    if (!joins(s.a)) return;
    for (const MatrixAddress& a : s.epilogue_operands)
      if (!joins(a)) return;
    s.batch.pop_back();
    s.m *= count;
    s.a.batch_strides.pop_back();
    s.b.batch_strides.pop_back();
    for (MatrixAddress& a : s.epilogue_operands) a.batch_strides.pop_back();
  }
}

Status lower_matmul(LowerContext& ctx) {
  const ir::Node& node = ctx.node();
  const ir::Value* a = node.input(0);
  const ir::Value* b = node.input(1);
  const Dims ad = a->type.dims(), bd = b->type.dims();
  const Dims out = node.output(0)->type.dims();
  const bool packed = b->type.format == ir::Format::FRACTAL_Z;
  const bool transposed = packed || node.attrs.get_int("trans_b", 0) != 0;
  MatMulSpec s;
  const bool trans_a = node.attrs.get_int("trans_a", 0) != 0;
  s.m = trans_a ? ad.back() : ad[ad.size() - 2];
  s.k = trans_a ? ad[ad.size() - 2] : ad.back();
  s.n = transposed ? bd[bd.size() - 2] : bd.back();
  s.batch.assign(out.begin(), out.end() - 2);
  // One row is the same either way.
  s.a_transposed = trans_a && s.m > 1;
  s.a = operand_address(a, s.batch);
  if (trans_a && !s.a_transposed) s.a.row_stride = s.k;
  s.b = packed ? MatrixAddress{0, Dims(s.batch.size(), 0), bd.back(), 0} : operand_address(b, s.batch);
  s.b_layout = packed       ? MatMulSpec::BLayout::Panels
               : transposed ? MatMulSpec::BLayout::Transposed
                            : MatMulSpec::BLayout::Matrix;
  ATC_ASSIGN(Epilogue e, make_epilogue(ctx, 2));
  for (const ir::Value* v : e.values) s.epilogue_operands.push_back(epilogue_address(v, out));
  s.epilogue = std::move(e.program);
  const std::int64_t macs = element_count(out) * s.k;
  merge_batches(s);
  std::vector<kernels::Operand> operands = {ctx.read(a), ctx.read(b)};
  operands.insert(operands.end(), e.operands.begin(), e.operands.end());
  ATC_ASSIGN(kernels::Task task, kernels::make_matmul_task(s, std::move(operands), ctx.chip()));
  task.macs = macs;
  ctx.emit(std::move(task));
  return {};
}

}  // namespace

void register_fused_matmul(Registry& registry) {
  registry.add(
      {.name = "MatMul",
       .domain = "atc",
       .since = 0,
       .attrs = {{"epilogue", AttrKind::Graph, true}, {"trans_a", AttrKind::Int}, {"trans_b", AttrKind::Int}},
       .inputs = {2, INT_MAX},
       .outputs = {1, INT_MAX},
       .infer = infer_epilogue,
       .lower = lower_matmul});
}

}  // namespace atc::ops
