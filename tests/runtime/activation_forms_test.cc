// Activations as exporters write them out: each becomes one operator, with the same values.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;
using Activation = std::function<V(FormWriter&, V)>;

/// Of a value that is no input itself, in front of a product.
ExporterForm form(std::string name, Activation f, int effects = 1) {
  return {std::move(name),
          [f](FormWriter& w) {
            V x = w.matmul(w.input({6, 32}, DType::F32, 3), w.weights({32, 32}, 0.6));
            w.output(f(w, x));
          },
          effects, effects > 0 ? 1 : -1};
}

V half(FormWriter& w) { return w.number(0.5); }
V one(FormWriter& w) { return w.number(1); }
V cubic(FormWriter& w) { return w.number(0.044715); }
V root(FormWriter& w) { return w.number(0.7978845608); }
V tanh(FormWriter& w, V x) { return w.op("Tanh", {x}); }
V erf(FormWriter& w, V x) { return w.op("Erf", {w.div(x, w.number(1.4142135623730951))}); }
V cube(FormWriter& w, V x) { return w.op("Pow", {x, w.number(3)}); }

TEST(ActivationForms, Gelu) {
  const std::vector<ExporterForm> forms = {
      form("huggingface",
           [](FormWriter& w, V x) { return w.mul(w.mul(x, w.add(erf(w, x), one(w))), half(w)); }),
      form("torch", [](FormWriter& w, V x) { return w.mul(x, w.mul(half(w), w.add(one(w), erf(w, x)))); }),
      form("half_first",
           [](FormWriter& w, V x) { return w.mul(w.mul(half(w), x), w.add(erf(w, x), one(w))); }),
      form("reciprocal_root",
           [](FormWriter& w, V x) {
             V e = w.op("Erf", {w.mul(x, w.number(0.70710678))});
             return w.div(w.mul(x, w.add(e, one(w))), w.number(2));
           }),
      form("tanh_power",
           [](FormWriter& w, V x) {
             V inner = w.mul(root(w), w.add(x, w.mul(cubic(w), cube(w, x))));
             return w.mul(w.mul(half(w), x), w.add(one(w), tanh(w, inner)));
           }),
      form("tanh_products",
           [](FormWriter& w, V x) {
             V inner = w.mul(w.add(x, w.mul(w.mul(w.mul(x, x), x), cubic(w))), root(w));
             return w.mul(x, w.mul(w.add(tanh(w, inner), one(w)), half(w)));
           }),
      form("tanh_factored",
           [](FormWriter& w, V x) {
             V inner = w.mul(w.mul(x, root(w)), w.add(one(w), w.mul(w.mul(x, cubic(w)), x)));
             return w.mul(w.mul(half(w), x), w.add(one(w), tanh(w, inner)));
           }),
      form("sigmoid_of_the_tanh_form",
           [](FormWriter& w, V x) {
             V inner = w.mul(w.number(1.5957691216), w.add(x, w.mul(cubic(w), cube(w, x))));
             return w.mul(x, w.op("Sigmoid", {inner}));
           }),
      form(
          "another_constant",
          [](FormWriter& w, V x) {
            V e = w.op("Erf", {w.div(x, w.number(1.5))});
            return w.mul(w.mul(x, w.add(e, one(w))), half(w));
          },
          0),
      form(
          "another_factor",
          [](FormWriter& w, V x) { return w.mul(w.mul(x, w.add(erf(w, x), one(w))), w.number(0.25)); }, 0),
      form(
          "another_value",
          [](FormWriter& w, V x) { return w.mul(w.mul(tanh(w, x), w.add(erf(w, x), one(w))), half(w)); }, 0),
      form(
          "gate_is_an_output",
          [](FormWriter& w, V x) {
            V g = w.add(erf(w, x), one(w));
            w.output(g);
            return w.mul(w.mul(x, g), half(w));
          },
          0),
  };
  expect_forms(forms, "GeluFusionPass");
}

TEST(ActivationForms, Swish) {
  const std::vector<ExporterForm> forms = {
      form("silu", [](FormWriter& w, V x) { return w.mul(x, w.op("Sigmoid", {x})); }),
      form("quick_gelu",
           [](FormWriter& w, V x) { return w.mul(w.op("Sigmoid", {w.mul(w.number(1.702), x)}), x); }),
      form("quotient",
           [](FormWriter& w, V x) { return w.div(x, w.add(one(w), w.op("Exp", {w.op("Neg", {x})}))); }),
      form("sigmoid",
           [](FormWriter& w, V x) { return w.div(one(w), w.add(w.op("Exp", {w.op("Neg", {x})}), one(w))); }),
      form("softplus", [](FormWriter& w, V x) { return w.op("Log", {w.add(w.op("Exp", {x}), one(w))}); }),
      form("mish", [](FormWriter& w, V x) { return w.mul(x, tanh(w, w.op("Softplus", {x}))); }),
      form(
          "mish_with_softplus_written_out",
          [](FormWriter& w, V x) {
            return w.mul(x, tanh(w, w.op("Log", {w.add(w.op("Exp", {x}), one(w))})));
          },
          2),
      form(
          "sigmoid_of_another", [](FormWriter& w, V x) { return w.mul(x, w.op("Sigmoid", {tanh(w, x)})); },
          0),
      form(
          "two_plus_exp",
          [](FormWriter& w, V x) { return w.div(x, w.add(w.number(2), w.op("Exp", {w.op("Neg", {x})}))); },
          0),
      form(
          "gate_is_an_output",
          [](FormWriter& w, V x) {
            V g = w.op("Sigmoid", {x});
            w.output(g);
            return w.mul(x, g);
          },
          0),
  };
  expect_forms(forms, "SwishFusionPass");
}

V clip(FormWriter& w, V x, double most = 6) { return w.op("Clip", {x, w.number(0), w.number(most)}); }

TEST(ActivationForms, HardSwish) {
  const auto three = [](FormWriter& w, V x) { return w.add(x, w.number(3)); };
  const std::vector<ExporterForm> forms = {
      form("product_first",
           [three](FormWriter& w, V x) { return w.div(w.mul(x, clip(w, three(w, x))), w.number(6)); }),
      form("quotient_first",
           [three](FormWriter& w, V x) { return w.mul(x, w.div(clip(w, three(w, x)), w.number(6))); }),
      form("sixth", [three](FormWriter& w,
                            V x) { return w.mul(w.mul(clip(w, three(w, x)), w.number(0.16666667)), x); }),
      form("hard_sigmoid_operator",
           [](FormWriter& w, V x) {
             return w.mul(x, w.op("HardSigmoid", {x}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}}));
           }),
      form("hard_sigmoid", [three](FormWriter& w, V x) { return w.div(clip(w, three(w, x)), w.number(6)); }),
      form(
          "another_bound",
          [three](FormWriter& w, V x) { return w.div(w.mul(x, clip(w, three(w, x), 5)), w.number(6)); }, 0),
      form(
          "another_slope",
          [](FormWriter& w, V x) {
            return w.mul(x, w.op("HardSigmoid", {x}, {{"alpha", 0.2F}, {"beta", 0.5F}}));
          },
          0),
      form(
          "another_value",
          [three](FormWriter& w, V x) { return w.mul(tanh(w, x), w.div(clip(w, three(w, x)), w.number(6))); },
          1),
  };
  expect_forms(forms, "HardSwishFusionPass");
}

}  // namespace
}  // namespace atc::runtime
