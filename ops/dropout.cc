#include <string>
#include <vector>

#include "ops/dtype_set.h"
#include "ops/families.h"
#include "ops/op.h"
#include "ops/random_stream.h"
#include "ops/reference_util.h"
#include "ops/vector_emitter.h"

// Dropout. At inference the identity, with a mask of all true; with training_mode random by its seed.
namespace atc::ops {
namespace {

// Attributes: ratio (Float, 0.5, until 11), is_test (Int, until 6), seed (Int, since 12).
// Inputs since 12: data, ratio, training_mode.
constexpr std::size_t kRatio = 1;
constexpr std::size_t kTrainingMode = 2;

/// The mask has the type of the data up to opset 9, bool since.
DType mask_dtype(int version, DType data) { return version < 10 ? data : DType::Bool; }

Status infer_dropout(InferContext& ctx) {
  ATC_TRY(require_dtype(ctx, 0, kFloatTypes, "a float type"));
  ctx.set_output(0, ctx.dtype(0), ctx.type(0).shape);
  if (ctx.node().outputs().size() > 1)
    ctx.set_output(1, mask_dtype(ctx.version(), ctx.dtype(0)), ctx.type(0).shape);
  return {};
}

/// Elements are kept where the node's random stream gives `ratio` or more, and scaled by 1 / (1 - ratio).
Status drop_elements(EvalContext& ctx, double ratio) {
  if (!(ratio > 0 && ratio < 1)) return ctx.error("ratio is " + std::to_string(ratio) + ", expected [0, 1)");
  const Tensor& x = ctx.input(0);
  RandomStream random(seed_of(ctx.node()));
  std::vector<double> kept;
  for (std::int64_t i = 0; i < x.count(); ++i) kept.push_back(random.uniform() >= ratio ? 1 : 0);
  std::vector<double> y = to_doubles(x);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= kept[i] / (1 - ratio);
  ctx.outputs[0] = from_doubles(x.dtype, x.shape, y);
  if (ctx.outputs.size() > 1)
    ctx.outputs[1] = from_doubles(mask_dtype(ctx.version(), x.dtype), x.shape, kept);
  return {};
}

Status reference_dropout(EvalContext& ctx) {
  const Tensor& x = ctx.input(0);
  const bool training = ctx.has_input(kTrainingMode) && int_at(ctx.input(kTrainingMode), 0) != 0;
  const double ratio = ctx.has_input(kRatio) ? double_at(ctx.input(kRatio), 0) : 0.5;
  if (training && ratio != 0) return drop_elements(ctx, ratio);
  ctx.outputs[0] = x;
  if (ctx.outputs.size() > 1)
    ctx.outputs[1] = filled(scalar_tensor(mask_dtype(ctx.version(), x.dtype), 1), x.shape);
  return {};
}

Status vector_dropout(VectorEmitter& e) {
  e.set_output(0, e.input(0));
  if (e.node().output(1) != nullptr) e.set_output(1, e.constant(*kernels::reg_type_of(e.output_dtype(1)), 1));
  return {};
}

bool accepts_dropout(const ir::Node& node) {
  if (!has_vector_types(node)) return false;
  const ir::Value* ratio = node.input(kRatio);
  if (ratio != nullptr && ratio->is_constant() && double_at(ratio->constant(), 0) == 0) return true;
  const ir::Value* training = node.input(kTrainingMode);
  return training == nullptr || (training->is_constant() && int_at(training->constant(), 0) == 0);
}

}  // namespace

void register_dropout(Registry& r) {
  OpDef def{.name = "Dropout",
            .since = 1,
            .until = 11,
            .attrs = {{"consumed_inputs", AttrKind::Ints, false, 1, 5},
                      {"is_test", AttrKind::Int, false, 1, 6},
                      {"ratio", AttrKind::Float, false, 1, 11}},
            .outputs = {1, 2},
            .infer = infer_dropout,
            .reference = reference_dropout,
            .vector = vector_dropout,
            .vector_accepts = accepts_dropout};
  r.add(def);
  def.since = 12;
  def.until = INT_MAX;
  def.attrs = {{"seed", AttrKind::Int}};
  def.inputs = {1, 3};
  r.add(def);
}

}  // namespace atc::ops
