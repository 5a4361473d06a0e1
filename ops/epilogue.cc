#include "ops/epilogue.h"

#include "ops/channels_last.h"

namespace atc::ops {

StatusOr<Epilogue> make_epilogue(LowerContext& ctx, std::size_t first_extra) {
  const ir::Node& node = ctx.node();
  const auto body = node.attrs.get_graph("epilogue");
  ATC_CHECK(body != nullptr, node.label() + " has no epilogue");
  Epilogue e;
  const bool integers = body->inputs()[0]->type.dtype == DType::I32;
  std::vector<int> regs = {
      e.program.emit(kernels::VecOp::Acc, integers ? kernels::RegType::I32 : kernels::RegType::F32)};
  for (std::size_t i = first_extra; i < node.inputs().size(); ++i) {
    const ir::Value* v = node.input(i);
    regs.push_back(e.program.load(static_cast<int>(e.operands.size()), *aicore::reg_type_of(v->type.dtype)));
    e.values.push_back(v);
    e.operands.push_back(ctx.read(v));
  }
  ATC_ASSIGN(const std::vector<int> results, emit_body(*body, e.program, regs));
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    const ir::Value* v = node.output(i);
    e.program.store(static_cast<int>(e.operands.size()), e.program.type_of(results[i]), results[i]);
    e.values.push_back(v);
    e.operands.push_back(ctx.write(v));
  }
  return e;
}

Status infer_epilogue(InferContext& ctx) {
  const auto body = ctx.node().attrs.get_graph("epilogue");
  if (body == nullptr || body->outputs().size() != ctx.node().outputs().size())
    return ctx.error("has no epilogue of as many outputs");
  for (std::size_t i = 0; i < body->outputs().size(); ++i) {
    const ir::TensorType& t = body->outputs()[i]->type;
    ctx.set_output(
        i, t.dtype,
        stores_channels_last(ctx.node()) ? ir::to_shape(channels_last_shape(ctx.node())) : *t.shape);
  }
  return {};
}

}  // namespace atc::ops
