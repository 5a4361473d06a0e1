#include <tuple>

#include "ops/families.h"
#include "ops/recurrent.h"

// The recurrent cells LSTM, GRU and RNN; ops/recurrent.h walks the time steps.
namespace atc::ops {

namespace {

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
  return run_recurrent(ctx, 4, {"Sigmoid", "Tanh", "Tanh"}, step);
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
  return run_recurrent(ctx, 3, {"Sigmoid", "Tanh"}, step);
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
  return run_recurrent(ctx, 1, {"Tanh"}, step);
}

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
                .reference = reference_lstm});
  registry.add({.name = "GRU",
                .attrs = with({"linear_before_reset", AttrKind::Int, false, 3}),
                .inputs = {3, 6},
                .outputs = {0, 2},
                .infer = infer_gru,
                .reference = reference_gru});
  registry.add({.name = "RNN",
                .attrs = common,
                .inputs = {3, 6},
                .outputs = {0, 2},
                .infer = infer_rnn,
                .reference = reference_rnn});
}

}  // namespace atc::ops
