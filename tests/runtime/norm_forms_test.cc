// Normalizations as exporters write them out: each becomes one operator, with the same values.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;

constexpr double kEpsilon = 1e-5;
V deviation(FormWriter& w, V v) { return w.op("Sqrt", {w.add(v, w.number(kEpsilon))}); }
V square(FormWriter& w, V x) { return w.mul(x, x); }
V power(FormWriter& w, V x) { return w.op("Pow", {x, w.number(2)}); }

/// Mean, difference and variance of [2, 6, 40].
struct Centred {
  V x, mean, d, variance;
};
Centred centred(FormWriter& w, V x, bool pow = false) {
  Centred c{x, w.mean(x), nullptr, nullptr};
  c.d = w.sub(x, c.mean);
  c.variance = w.mean(pow ? power(w, c.d) : square(w, c.d));
  return c;
}
Centred centred(FormWriter& w, bool pow = false) { return centred(w, w.input({2, 6, 40}), pow); }
V affine(FormWriter& w, V y) { return w.add(w.mul(y, w.weights({40})), w.weights({40})); }

TEST(NormForms, LayerNorm) {
  const auto by = [](bool pow, auto quotient) {
    return [=](FormWriter& w) {
      const Centred c = centred(w, pow);
      w.output(affine(w, quotient(w, c)));
    };
  };
  const auto divided = [](FormWriter& w, const Centred& c) { return w.div(c.d, deviation(w, c.variance)); };
  const std::vector<ExporterForm> forms = {
      {"pow_div", by(true, divided), 1, 1},
      {"mul_div", by(false, divided), 1, 1},
      {"reciprocal",
       by(false, [](FormWriter& w,
                    const Centred& c) { return w.mul(c.d, w.op("Reciprocal", {deviation(w, c.variance)})); }),
       1, 1},
      {"one_over",
       by(true, [](FormWriter& w,
                   const Centred& c) { return w.mul(w.div(w.number(1), deviation(w, c.variance)), c.d); }),
       1, 1},
      {"power_of_minus_half",
       by(false,
          [](FormWriter& w, const Centred& c) {
            return w.mul(c.d, w.op("Pow", {w.add(w.number(kEpsilon), c.variance), w.number(-0.5)}));
          }),
       1, 1},
      {"power_of_half",
       by(false,
          [](FormWriter& w, const Centred& c) {
            return w.div(c.d, w.op("Pow", {w.add(c.variance, w.number(kEpsilon)), w.number(0.5)}));
          }),
       1, 1},
      {"two_differences",
       [](FormWriter& w) {
         V x = w.input({2, 6, 40});
         V mean = w.mean(x);
         V variance = w.mean(power(w, w.sub(x, mean)));
         w.output(affine(w, w.div(w.sub(x, mean), deviation(w, variance))));
       },
       1, 1},
      {"mean_of_squares_less_square_of_mean",
       [](FormWriter& w) {
         V x = w.input({2, 6, 40});
         V mean = w.mean(x);
         V variance = w.sub(w.mean(square(w, x)), square(w, mean));
         w.output(affine(w, w.div(w.sub(x, mean), deviation(w, w.op("Relu", {variance})))));
       },
       1, 1},
      {"no_scale", [divided](FormWriter& w) { w.output(divided(w, centred(w))); }, 1, 1},
      {"scale_alone", [divided](FormWriter& w) { w.output(w.mul(w.weights({40}), divided(w, centred(w)))); },
       1, 1},
      {"scale_in_the_factor",
       [](FormWriter& w) {
         const Centred c = centred(w);
         V f = w.mul(w.op("Reciprocal", {deviation(w, c.variance)}), w.weights({40}));
         w.output(w.add(w.mul(c.x, f), w.sub(w.weights({40}), w.mul(c.mean, f))));
       },
       1, 1},
      {"two_axes",
       [](FormWriter& w) {
         V x = w.input({3, 5, 8});
         V d = w.sub(x, w.mean(x, {1, 2}));
         w.output(w.add(w.mul(w.div(d, deviation(w, w.mean(square(w, d), {1, 2}))), w.weights({5, 8})),
                        w.weights({5, 8})));
       },
       1, 1},
      // Over the channels of an image: no trailing axes.
      {"channels",
       [](FormWriter& w) {
         V x = w.input({1, 16, 3, 4});
         V d = w.sub(x, w.mean(x, {1}));
         w.output(w.div(d, deviation(w, w.mean(square(w, d), {1}))));
       },
       0, 1},
      {"root_is_an_output",
       [](FormWriter& w) {
         const Centred c = centred(w);
         V root = deviation(w, c.variance);
         w.output(w.div(c.d, root)).output(root);
       },
       0, 1},
      // Scaled by a value of the data's own shape.
      {"gated",
       [divided](FormWriter& w) {
         w.output(w.mul(divided(w, centred(w)), w.input({2, 6, 40})));
       },
       1, 1},
  };
  expect_forms(forms, "LayerNormONNXFusionPass", 2e-2);
}

TEST(NormForms, RmsNorm) {
  const auto by = [](auto quotient) {
    return [=](FormWriter& w) {
      V x = w.input({2, 6, 40});
      w.output(w.mul(w.weights({40}), quotient(w, x, w.add(w.mean(power(w, x)), w.number(kEpsilon)))));
    };
  };
  const std::vector<ExporterForm> forms = {
      {"div", by([](FormWriter& w, V x, V v) { return w.div(x, w.op("Sqrt", {v})); }), 1, 1},
      {"reciprocal",
       by([](FormWriter& w, V x, V v) { return w.mul(x, w.op("Reciprocal", {w.op("Sqrt", {v})})); }), 1, 1},
      {"one_over",
       by([](FormWriter& w, V x, V v) { return w.mul(x, w.div(w.number(1), w.op("Sqrt", {v}))); }), 1, 1},
      {"power", by([](FormWriter& w, V x, V v) {
         return w.mul(w.op("Pow", {v, w.number(-0.5)}), x);
       }),
       1, 1},
      {"casts",
       [](FormWriter& w) {
         V x = w.cast(w.input({2, 6, 40}, DType::F16), DType::F32);
         V v = w.add(w.mean(square(w, x)), w.number(kEpsilon));
         V y = w.cast(w.mul(x, w.op("Reciprocal", {w.op("Sqrt", {v})})), DType::F16);
         w.output(w.mul(y, w.cast(w.weights({40}), DType::F16)));
       },
       1, 1},
      {"sum_of_squares",
       [](FormWriter& w) {
         V x = w.input({2, 6, 40});
         V v = w.add(w.sum(square(w, x), 2, true), w.number(kEpsilon));
         w.output(w.div(x, w.op("Sqrt", {v})));
       },
       0, 1},
      {"another_value_is_divided",
       [](FormWriter& w) {
         V x = w.input({2, 6, 40});
         w.output(
             w.div(w.input({2, 6, 40}), w.op("Sqrt", {w.add(w.mean(square(w, x)), w.number(kEpsilon))})));
       },
       0, 1},
  };
  expect_forms(forms, "RmsNormFusionPass");
}

V layer_norm(FormWriter& w, V x) {
  const Centred c = centred(w, x);
  return affine(w, w.div(c.d, deviation(w, c.variance)));
}

TEST(NormForms, SumInFrontOfLayerNorm) {
  const std::vector<ExporterForm> forms = {
      {"sum",
       [](FormWriter& w) {
         w.output(layer_norm(w, w.add(w.input({2, 6, 40}), w.input({2, 6, 40}))));
       },
       1, 1},
      {"sum_is_read",
       [](FormWriter& w) {
         V s = w.add(w.input({2, 6, 40}), w.input({2, 6, 40}));
         w.output(w.op("Tanh", {s})).output(layer_norm(w, s)).output(s);
       },
       1, 1},
      {"broadcast",
       [](FormWriter& w) {
         w.output(layer_norm(w, w.add(w.input({6, 40}), w.input({2, 6, 40}))));
       },
       1, 1},
      {"outer_sum",
       [](FormWriter& w) {
         w.output(layer_norm(w, w.add(w.input({6, 1}), w.input({1, 40}))));
       },
       0},
      {"constant",
       [](FormWriter& w) {
         w.output(layer_norm(w, w.add(w.weights({40}), w.input({2, 6, 40}))));
       },
       0, 1},
      {"operator",
       [](FormWriter& w) {
         V s = w.add(w.input({2, 6, 40}), w.input({2, 6, 40}));
         w.output(w.op("LayerNormalization", {s, w.weights({40}), w.weights({40})}, {{"epsilon", 1e-3F}}));
       },
       1, 1},
      {"statistics_are_outputs",
       [](FormWriter& w) {
         V s = w.add(w.input({2, 6, 40}), w.input({2, 6, 40}));
         for (V v : w.ops("LayerNormalization", {s, w.weights({40})}, 3)) w.output(v);
       },
       0, 1},
  };
  expect_forms(forms, "AddLayerNormFusionPass", 2e-2);
}

TEST(NormForms, SumInFrontOfRmsNorm) {
  const auto norm = [](FormWriter& w, V x) {
    return w.mul(w.div(x, deviation(w, w.mean(square(w, x)))), w.weights({40}));
  };
  const std::vector<ExporterForm> forms = {
      {"residual",
       [norm](FormWriter& w) {
         V s = w.add(w.input({2, 6, 40}), w.input({2, 6, 40}));
         w.output(norm(w, s)).output(s);
       },
       1, 1},
      {"operator",
       [](FormWriter& w) {
         V s = w.add(w.input({2, 6, 40}), w.input({2, 6, 40}));
         w.output(w.op("RMSNormalization", {s, w.weights({40})}, {}, 23));
       },
       1, 1},
      {"difference",
       [norm](FormWriter& w) {
         w.output(norm(w, w.sub(w.input({2, 6, 40}), w.input({2, 6, 40}))));
       },
       0, 1},
  };
  expect_forms(forms, "AddRmsNormFusionGraphPass");
}

TEST(NormForms, InstanceNorm) {
  const auto planes = [](FormWriter& w) {
    V x = w.input({2, 5, 6, 7});
    V d = w.sub(x, w.mean(x, {2, 3}));
    return w.div(d, deviation(w, w.mean(square(w, d), {2, 3})));
  };
  const std::vector<ExporterForm> forms = {
      {"scale_and_bias",
       [planes](FormWriter& w) {
         w.output(w.add(w.mul(planes(w), w.weights({5, 1, 1})), w.weights({1, 5, 1, 1})));
       },
       1, 1},
      {"computed_scale",
       [planes](FormWriter& w) {
         V style = w.unsqueeze(w.unsqueeze(w.input({1, 5}), 2), 3);
         w.output(w.op("Relu", {w.mul(planes(w), style)}));
       },
       1, 1},
      // A style a sample is no parameter of a channel.
      {"scale_of_samples",
       [planes](FormWriter& w) {
         w.output(w.mul(planes(w), w.input({2, 5, 1, 1})));
       },
       0, 1},
      {"scale_of_rows",
       [planes](FormWriter& w) {
         w.output(w.mul(planes(w), w.weights({6, 7})));
       },
       0, 1},
      {"one_axis",
       [](FormWriter& w) {
         V x = w.input({2, 5, 6, 7});
         V d = w.sub(x, w.mean(x, {3}));
         w.output(w.mul(w.div(d, deviation(w, w.mean(square(w, d), {3}))), w.weights({5, 1, 1})));
       },
       0, 1},
  };
  expect_forms(forms, "InstanceNormFusionPass");
}

TEST(NormForms, GroupNorm) {
  const auto group_norm = [](FormWriter& w, V x, V scale, V bias) {
    V r = w.reshape(x, {0, 4, -1});
    return w.reshape(w.op("InstanceNormalization", {r, scale, bias}), {2, 16, 3, 5});
  };
  const auto plain = [group_norm](FormWriter& w) {
    return group_norm(w, w.input({2, 16, 3, 5}), w.reals({4}, {1, 1, 1, 1}), w.reals({4}, {0, 0, 0, 0}));
  };
  const std::vector<ExporterForm> forms = {
      {"torch",
       [plain](FormWriter& w) {
         w.output(w.add(w.mul(plain(w), w.weights({16, 1, 1})), w.weights({16, 1, 1})));
       },
       1, 2},
      {"silu",
       [plain](FormWriter& w) {
         V y = w.add(w.mul(plain(w), w.weights({16, 1, 1})), w.weights({16, 1, 1}));
         w.output(w.mul(y, w.op("Sigmoid", {y})));
       },
       1, 2},
      {"own_scale",
       [group_norm](FormWriter& w) {
         V y = group_norm(w, w.input({2, 16, 3, 5}), w.weights({4}), w.weights({4}));
         w.output(w.add(w.mul(y, w.weights({1, 16, 1, 1})), w.weights({1, 16, 1, 1})));
       },
       1, 2},
      // One number an element: no scale of a channel.
      {"scale_of_elements",
       [plain](FormWriter& w) {
         w.output(w.mul(plain(w), w.weights({16, 3, 5})));
       },
       1},
      {"groups_are_read",
       [](FormWriter& w) {
         V r = w.reshape(w.input({2, 16, 3, 5}), {0, 4, -1});
         V i = w.op("InstanceNormalization", {r, w.weights({4}), w.weights({4})});
         w.output(i).output(w.reshape(i, {2, 16, 3, 5}));
       },
       0},
  };
  expect_forms(forms, "GroupNormFusionPass");
}

}  // namespace
}  // namespace atc::runtime
