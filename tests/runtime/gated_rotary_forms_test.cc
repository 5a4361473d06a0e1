// Rotary position embeddings and gated units as exporters write them out.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;

constexpr std::int64_t kBatch = 2, kRows = 6, kHeads = 3, kWidth = 16, kHalf = kWidth / 2;

/// cos or sin of positions [rows] times frequencies, `columns` of them: each frequency twice when these are
/// kWidth, next to each other (`interleaved`) or half a head apart.
Tensor table(double (*f)(double), std::int64_t rows, std::int64_t columns, bool interleaved, Dims dims) {
  std::vector<double> values;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t k = columns == kHalf ? c : interleaved ? c / 2 : c % kHalf;
      values.push_back(f(static_cast<double>(r) / std::pow(10000.0, static_cast<double>(k) / kHalf)));
    }
  return from_doubles(DType::F32, std::move(dims), values);
}

struct Tables {
  V cos, sin;
};
Tables constant_tables(FormWriter& w, std::int64_t columns, bool interleaved) {
  const Dims dims = {1, 1, kRows, columns};
  return {w.constant(table(std::cos, kRows, columns, interleaved, dims)),
          w.constant(table(std::sin, kRows, columns, interleaved, dims))};
}
/// Rows of tables by position.
Tables gathered_tables(FormWriter& w, std::int64_t columns, bool interleaved) {
  V positions = w.indices({kBatch, kRows}, 20);
  const auto rows = [&](double (*f)(double)) {
    V t = w.constant(table(f, 20, columns, interleaved, {20, columns}));
    return w.unsqueeze(w.op("Gather", {t, positions}), 1);
  };
  V cos = rows(std::cos);
  return {cos, rows(std::sin)};
}

V heads(FormWriter& w) {
  return w.transpose(w.reshape(w.input({kBatch, kRows, kHeads * kWidth}), {kBatch, kRows, kHeads, kWidth}),
                     {0, 2, 1, 3});
}
V low(FormWriter& w, V x) { return w.slice(x, 3, 0, kHalf); }
V high(FormWriter& w, V x) { return w.slice(x, 3, kHalf, INT64_MAX); }
V even(FormWriter& w, V x) { return w.slice(x, 3, 0, INT64_MAX, 2); }
V odd(FormWriter& w, V x) { return w.slice(x, 3, 1, INT64_MAX, 2); }
V neg(FormWriter& w, V x) { return w.op("Neg", {x}); }
V paired(FormWriter& w, V a, V b) {
  return w.reshape(w.concat({w.unsqueeze(a, -1), w.unsqueeze(b, -1)}, -1), {kBatch, kHeads, kRows, kWidth});
}
V turned_halves(FormWriter& w, V x) { return w.concat({neg(w, high(w, x)), low(w, x)}, -1); }
V turned_pairs(FormWriter& w, V x) { return paired(w, neg(w, odd(w, x)), even(w, x)); }

V embedded(FormWriter& w, V x, V turned, const Tables& t) {
  return w.add(w.mul(x, t.cos), w.mul(turned, t.sin));
}

TEST(RotaryForms, BecomeOneProgram) {
  const std::vector<ExporterForm> forms = {
      {"rotate_half",
       [](FormWriter& w) {
         V x = heads(w);
         w.output(embedded(w, x, turned_halves(w, x), constant_tables(w, kWidth, false)));
       },
       1, 1},
      {"rotate_half_by_positions",
       [](FormWriter& w) {
         V x = heads(w);
         w.output(embedded(w, x, turned_halves(w, x), gathered_tables(w, kWidth, false)));
       },
       1, 2},
      {"rotate_half_of_split",
       [](FormWriter& w) {
         V x = heads(w);
         const auto parts = w.split(x, 3, {kHalf, kHalf});
         w.output(
             embedded(w, x, w.concat({neg(w, parts[1]), parts[0]}, 3), constant_tables(w, kWidth, false)));
       },
       1, 1},
      {"times_minus_one",
       [](FormWriter& w) {
         V x = heads(w);
         V turned = w.concat({w.mul(high(w, x), w.number(-1)), low(w, x)}, -1);
         w.output(embedded(w, x, turned, gathered_tables(w, kWidth, false)));
       },
       1, 2},
      {"halves",
       [](FormWriter& w) {
         V x = heads(w), a = low(w, x), b = high(w, x);
         const Tables t = constant_tables(w, kHalf, false);
         w.output(w.concat({w.sub(w.mul(a, t.cos), w.mul(b, t.sin)), w.add(w.mul(b, t.cos), w.mul(a, t.sin))},
                           -1));
       },
       1, 1},
      {"interleaved",
       [](FormWriter& w) {
         V x = heads(w);
         w.output(embedded(w, x, turned_pairs(w, x), constant_tables(w, kWidth, true)));
       },
       1, 1},
      {"interleaved_by_positions",
       [](FormWriter& w) {
         V x = heads(w);
         w.output(embedded(w, x, turned_pairs(w, x), gathered_tables(w, kWidth, true)));
       },
       1, 2},
      {"pairs",
       [](FormWriter& w) {
         V x = heads(w), a = even(w, x), b = odd(w, x);
         const Tables t = gathered_tables(w, kHalf, true);
         w.output(
             paired(w, w.sub(w.mul(a, t.cos), w.mul(b, t.sin)), w.add(w.mul(a, t.sin), w.mul(b, t.cos))));
       },
       1, 3},
      {"complex",
       [](FormWriter& w) {
         V p = w.reshape(heads(w), {kBatch, kHeads, kRows, kHalf, 2});
         const auto part = [&](std::int64_t i) {
           return w.op("Gather", {p, w.index(i)}, {{"axis", std::int64_t{-1}}});
         };
         V a = part(0), b = part(1);
         const Tables t = constant_tables(w, kHalf, true);
         w.output(
             paired(w, w.sub(w.mul(a, t.cos), w.mul(b, t.sin)), w.add(w.mul(a, t.sin), w.mul(b, t.cos))));
       },
       1, 1},
      // Pairs that are turned as halves are no rotation.
      {"mixed",
       [](FormWriter& w) {
         V x = heads(w);
         V turned = w.concat({neg(w, odd(w, x)), even(w, x)}, -1);
         w.output(embedded(w, x, turned, constant_tables(w, kWidth, false)));
       },
       0},
      {"times_another_number",
       [](FormWriter& w) {
         V x = heads(w);
         V turned = w.concat({w.mul(high(w, x), w.number(-2)), low(w, x)}, -1);
         w.output(embedded(w, x, turned, constant_tables(w, kWidth, false)));
       },
       0},
      {"turned_half_is_an_output",
       [](FormWriter& w) {
         V x = heads(w), turned = turned_halves(w, x);
         w.output(turned).output(embedded(w, x, turned, constant_tables(w, kWidth, false)));
       },
       0},
  };
  expect_forms(forms, "RotaryPositionEmbeddingFusionPass");
}

constexpr std::int64_t kIn = 32, kHidden = 24;
V silu(FormWriter& w, V g) { return w.mul(g, w.op("Sigmoid", {g})); }
V product(FormWriter& w, V x, std::int64_t columns) { return w.matmul(x, w.weights({kIn, columns})); }

using Parts = std::function<std::pair<V, V>(FormWriter&, V)>;
ExporterForm gated(std::string name, Parts parts, int effects = 1,
                   std::function<V(FormWriter&, V)> gate = silu) {
  return {std::move(name),
          [parts, gate](FormWriter& w) {
            const auto [g, u] = parts(w, w.input({2, 6, kIn}));
            w.output(w.matmul(w.mul(gate(w, g), u), w.weights({kHidden, kIn})));
          },
          effects, 3};
}
V joint(FormWriter& w, V x) { return w.add(product(w, x, 2 * kHidden), w.weights({2 * kHidden})); }

TEST(GatedUnitForms, SwiGlu) {
  using Pair = std::pair<V, V>;
  const Parts split = [](FormWriter& w, V x) {
    const auto p = w.split(joint(w, x), 2, {kHidden, kHidden});
    return Pair{p[0], p[1]};
  };
  const std::vector<ExporterForm> forms = {
      gated("two_products",
            [](FormWriter& w, V x) {
              return Pair{product(w, x, kHidden), product(w, x, kHidden)};
            }),
      gated("two_products_with_bias",
            [](FormWriter& w, V x) {
              const auto one = [&] { return w.add(product(w, x, kHidden), w.weights({kHidden})); };
              V g = one();
              return Pair{g, one()};
            }),
      gated("split", split),
      gated("split_the_other_way",
            [split](FormWriter& w, V x) {
              const auto [g, u] = split(w, x);
              return Pair{u, g};
            }),
      gated("slices",
            [](FormWriter& w, V x) {
              V y = joint(w, x);
              return Pair{w.slice(y, 2, 0, kHidden), w.slice(y, -1, kHidden, INT64_MAX)};
            }),
      gated("every_other_column",
            [](FormWriter& w, V x) {
              V y = joint(w, x);
              return Pair{w.slice(y, 2, 0, INT64_MAX, 2), w.slice(y, 2, 1, INT64_MAX, 2)};
            }),
      gated("gathered",
            [](FormWriter& w, V x) {
              V y = w.reshape(joint(w, x), {2, 6, 2, kHidden});
              const auto part = [&](std::int64_t i) {
                return w.op("Gather", {y, w.index(i)}, {{"axis", std::int64_t{2}}});
              };
              V g = part(0);
              return Pair{g, part(1)};
            }),
      gated("swish_operator", split, 1, [](FormWriter& w, V g) { return w.op("Swish", {g}, {}, 24); }),
      gated("quick", split, 1,
            [](FormWriter& w, V g) { return w.mul(g, w.op("Sigmoid", {w.mul(g, w.number(1.702))})); }),
      gated("reglu", split, 1, [](FormWriter& w, V g) { return w.op("Relu", {g}); }),
      gated("glu", split, 1, [](FormWriter& w, V g) { return w.op("Sigmoid", {g}); }),
      // Another function of the gate is a program of no name, as many tasks.
      gated("tanh", split, 0, [](FormWriter& w, V g) { return w.op("Tanh", {g}); }),
      {"gate_is_an_output",
       [split](FormWriter& w) {
         const auto [g, u] = split(w, w.input({2, 6, kIn}));
         V gate = silu(w, g);
         w.output(gate).output(w.mul(gate, u));
       },
       0},
      // Joined with what follows instead.
      {"glu_in_front_of_a_sum",
       [split](FormWriter& w) {
         const auto [g, u] = split(w, w.input({2, 6, kIn}));
         w.output(w.add(w.mul(w.op("Sigmoid", {g}), u), w.input({2, 6, kHidden})));
       },
       0, 2},
  };
  expect_forms(forms, "GLUFusionPass");
  const auto erf = [](FormWriter& w, V g) {
    V e = w.add(w.op("Erf", {w.div(g, w.number(1.4142135623730951))}), w.number(1));
    return w.mul(w.mul(g, e), w.number(0.5));
  };
  expect_forms(
      {gated("geglu", split, 1, erf),
       gated("geglu_operator", split, 1, [](FormWriter& w, V g) { return w.op("Gelu", {g}, {}, 20); })},
      "GeGluV2FusionPass");
}

}  // namespace
}  // namespace atc::runtime
