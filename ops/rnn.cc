#include <tuple>

#include "ops/families.h"
#include "ops/recurrent.h"
#include "ops/recurrent_lowering.h"

// The recurrent cells LSTM, GRU and RNN; ops/recurrent.h walks the time steps.
namespace atc::ops {

namespace {

using kernels::RecurrentSpec;
using kernels::VecOp;

const std::vector<std::string> kLstmActivations = {"Sigmoid", "Tanh", "Tanh"};
const std::vector<std::string> kGruActivations = {"Sigmoid", "Tanh"};
const std::vector<std::string> kRnnActivations = {"Tanh"};

// LSTM: gates i, o, f, c ------------------------------------------------------------------------------

Status infer_lstm(InferContext& ctx) { return infer_recurrent(ctx, 4); }

Status reference_lstm(EvalContext& ctx) {
  // input_forget couples the gates: f = 1 - i.
  const bool couples = ctx.node().attrs.get_int("input_forget", 0) != 0;
  const auto step = [couples](const RecurrentCell& cell, const double* x, std::vector<double>& h,
                              std::vector<double>& c) {
    std::vector<double> gate[4];
    for (int k = 0; k < 4; ++k) {
      cell.input_part(k, x, gate[k]);
      cell.add_recurrent_part(k, h.data(), gate[k]);
    }
    const auto& [f, g, out] = std::tie(cell.activations[0], cell.activations[1], cell.activations[2]);
    for (std::size_t j = 0; j < h.size(); ++j) {
      const auto peep = [&](std::size_t k, double state) {
        return cell.peephole ? cell.peephole[k * h.size() + j] * state : 0.0;
      };
      const double i = f(gate[0][j] + peep(0, c[j]));
      const double forget = couples ? 1 - i : f(gate[2][j] + peep(2, c[j]));
      c[j] = forget * c[j] + i * g(gate[3][j]);
      const double o = f(gate[1][j] + peep(1, c[j]));
      h[j] = o * out(c[j]);
    }
  };
  return run_recurrent(ctx, 4, kLstmActivations, step);
}

void lstm_step(const StepForm& form, const std::vector<RecurrentActivation>& f,
               RecurrentSpec::Direction& direction) {
  RecurrentSpec::Stage stage{0, 4, 0, {}};
  StepWriter w(form, stage);
  const int h = w.state(0), c = w.state(1);
  const int i = w.activate(f[0], w.with_peephole(w.sum(0), 0, c));
  const int forget = form.node.attrs.get_int("input_forget", 0) != 0
                         ? w.op(VecOp::Sub, w.constant(1), i)
                         : w.activate(f[0], w.with_peephole(w.sum(2), 2, c));
  const int added = w.op(VecOp::Mul, i, w.activate(f[1], w.sum(3)));
  const int next = w.op(VecOp::Add, w.op(VecOp::Mul, forget, c), added);
  const int o = w.activate(f[0], w.with_peephole(w.sum(1), 1, next));
  w.finish({w.op(VecOp::Mul, o, w.activate(f[2], next)), next}, {h, c});
  direction.stages.push_back(std::move(stage));
}

Status lower_lstm(LowerContext& ctx) {
  return lower_recurrent(ctx, {4, 2, 2, kLstmActivations, -1, lstm_step});
}

// GRU: gates z, r, h ----------------------------------------------------------------------------------

Status infer_gru(InferContext& ctx) { return infer_recurrent(ctx, 3); }

Status reference_gru(EvalContext& ctx) {
  // The reset gate scales either h before its projection, or the projection.
  const bool linear_first = ctx.node().attrs.get_int("linear_before_reset", 0) != 0;
  const auto step = [linear_first](const RecurrentCell& cell, const double* x, std::vector<double>& h,
                                   std::vector<double>&) {
    std::vector<double> z;
    std::vector<double> r;
    std::vector<double> candidate;
    cell.input_part(0, x, z);
    cell.add_recurrent_part(0, h.data(), z);
    cell.input_part(1, x, r);
    cell.add_recurrent_part(1, h.data(), r);
    cell.input_part(2, x, candidate);
    for (double& v : r) v = cell.activations[0](v);
    if (linear_first) {
      std::vector<double> projected(h.size(), 0.0);
      cell.add_recurrent_part(2, h.data(), projected);
      for (std::size_t j = 0; j < h.size(); ++j) candidate[j] += r[j] * projected[j];
    } else {
      std::vector<double> reset = h;
      for (std::size_t j = 0; j < h.size(); ++j) reset[j] *= r[j];
      cell.add_recurrent_part(2, reset.data(), candidate);
    }
    for (std::size_t j = 0; j < h.size(); ++j) {
      const double update = cell.activations[0](z[j]);
      h[j] = (1 - update) * cell.activations[1](candidate[j]) + update * h[j];
    }
  };
  return run_recurrent(ctx, 3, kGruActivations, step);
}

// h' = (1 - z) candidate + z h. The states z and r h of the first stage are there when the candidate needs
// the product of r h.
void gru_step(const StepForm& form, const std::vector<RecurrentActivation>& f,
              RecurrentSpec::Direction& direction) {
  const auto join = [&](StepWriter& w, int z, int h, int candidate) {
    const int g = w.activate(f[1], candidate);
    w.finish({w.op(VecOp::Add, g, w.op(VecOp::Mul, z, w.op(VecOp::Sub, h, g)))}, {h});
  };
  if (form.node.attrs.get_int("linear_before_reset", 0) != 0) {
    RecurrentSpec::Stage stage{0, 3, 0, {}};
    StepWriter w(form, stage);
    const int r = w.activate(f[0], w.sum(1));
    const int candidate = w.op(VecOp::Add, w.input(2), w.op(VecOp::Mul, r, w.product(2)));
    join(w, w.activate(f[0], w.sum(0)), w.state(0), candidate);
    direction.stages.push_back(std::move(stage));
    return;
  }
  RecurrentSpec::Stage gates{0, 2, 0, {}};
  StepWriter w(form, gates);
  w.store(1, w.activate(f[0], w.sum(0)));
  w.store(2, w.op(VecOp::Mul, w.activate(f[0], w.sum(1)), w.state(0)));
  RecurrentSpec::Stage candidate{2, 1, 2, {}};
  StepWriter last(form, candidate);
  join(last, last.state(1), last.state(0), last.sum(2));
  direction.stages.push_back(std::move(gates));
  direction.stages.push_back(std::move(candidate));
}

Status lower_gru(LowerContext& ctx) {
  const bool linear_first = ctx.node().attrs.get_int("linear_before_reset", 0) != 0;
  return lower_recurrent(ctx, {3, 1, linear_first ? 1 : 3, kGruActivations, linear_first ? 2 : -1, gru_step});
}

// RNN -------------------------------------------------------------------------------------------------

Status infer_rnn(InferContext& ctx) { return infer_recurrent(ctx, 1); }

Status reference_rnn(EvalContext& ctx) {
  const auto step = [](const RecurrentCell& cell, const double* x, std::vector<double>& h,
                       std::vector<double>&) {
    std::vector<double> sum;
    cell.input_part(0, x, sum);
    cell.add_recurrent_part(0, h.data(), sum);
    for (std::size_t j = 0; j < h.size(); ++j) h[j] = cell.activations[0](sum[j]);
  };
  return run_recurrent(ctx, 1, kRnnActivations, step);
}

void rnn_step(const StepForm& form, const std::vector<RecurrentActivation>& f,
              RecurrentSpec::Direction& direction) {
  RecurrentSpec::Stage stage{0, 1, 0, {}};
  StepWriter w(form, stage);
  w.finish({w.activate(f[0], w.sum(0))}, {w.state(0)});
  direction.stages.push_back(std::move(stage));
}

Status lower_rnn(LowerContext& ctx) { return lower_recurrent(ctx, {1, 1, 1, kRnnActivations, -1, rnn_step}); }

}  // namespace

void register_rnn(Registry& registry) {
  const std::vector<AttrSpec> common = {
      {"activation_alpha", AttrKind::Floats}, {"activation_beta", AttrKind::Floats},
      {"activations", AttrKind::Strings},     {"clip", AttrKind::Float},
      {"direction", AttrKind::String},        {"hidden_size", AttrKind::Int},
      {"layout", AttrKind::Int, false, 14},   {"output_sequence", AttrKind::Int, false, 1, 6}};
  const auto with = [&](AttrSpec more) {
    std::vector<AttrSpec> attrs = common;
    attrs.push_back(more);
    return attrs;
  };
  registry.add({.name = "LSTM",
                .attrs = with({"input_forget", AttrKind::Int}),
                .inputs = {3, 8},
                .outputs = {0, 3},
                .infer = infer_lstm,
                .reference = reference_lstm,
                .lower = lower_lstm,
                .lowers = lowers_recurrent});
  registry.add({.name = "GRU",
                .attrs = with({"linear_before_reset", AttrKind::Int, false, 3}),
                .inputs = {3, 6},
                .outputs = {0, 2},
                .infer = infer_gru,
                .reference = reference_gru,
                .lower = lower_gru,
                .lowers = lowers_recurrent});
  registry.add({.name = "RNN",
                .attrs = common,
                .inputs = {3, 6},
                .outputs = {0, 2},
                .infer = infer_rnn,
                .reference = reference_rnn,
                .lower = lower_rnn,
                .lowers = lowers_recurrent});
}

}  // namespace atc::ops
