// What exporters write out around a softmax: the softmax itself, its scale and mask, and the pooling behind
// it.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;

TEST(SoftmaxForms, WrittenOut) {
  const auto by = [](auto f) { return [f](FormWriter& w) { w.output(f(w, w.input({3, 5, 12}))); }; };
  const auto exps = [](FormWriter& w, V x, std::int64_t axis) {
    return w.op("Exp", {w.sub(x, w.most(x, axis))});
  };
  const std::vector<ExporterForm> forms = {
      {"div", by([exps](FormWriter& w, V x) {
         V e = exps(w, x, -1);
         return w.div(e, w.sum(e, -1, true));
       }),
       1, 1},
      {"reciprocal", by([exps](FormWriter& w, V x) {
         V e = exps(w, x, 1);
         return w.mul(w.op("Reciprocal", {w.sum(e, 1, true)}), e);
       }),
       1, 1},
      {"without_maximum", by([](FormWriter& w, V x) {
         V e = w.op("Exp", {x});
         return w.div(e, w.sum(e, 2, true));
       }),
       1, 1},
      {"sum_of_another_axis", by([exps](FormWriter& w, V x) {
         V e = exps(w, x, 2);
         return w.div(e, w.sum(e, 1, true));
       }),
       1},  // Exp(x - m) is softmax's numerator whatever m is: the maximum stays outside.
      {"exps_are_an_output", by([exps](FormWriter& w, V x) {
         V e = exps(w, x, 2);
         w.output(e);
         return w.div(e, w.sum(e, 2, true));
       }),
       0, 1},
      {"another_numerator", by([exps](FormWriter& w, V x) {
         V e = exps(w, x, 2);
         return w.div(w.op("Exp", {x}), w.sum(e, 2, true));
       }),
       0, 1},
  };
  expect_forms(forms, "SoftmaxFusionPass");
}

TEST(SoftmaxForms, ScaleAndMask) {
  const auto scaled = [](FormWriter& w) { return w.mul(w.input({2, 4, 8, 12}), w.number(0.25)); };
  const std::vector<ExporterForm> forms = {
      {"scale", [scaled](FormWriter& w) { w.output(w.softmax(scaled(w))); }, 1, 1},
      {"mask_of_columns",
       [](FormWriter& w) {
         V x = w.div(w.input({2, 4, 8, 12}), w.number(4));
         w.output(w.softmax(w.add(w.input({2, 1, 1, 12}), x)));
       },
       1, 1},
      {"mask_of_the_same_shape",
       [scaled](FormWriter& w) {
         w.output(w.softmax(w.add(scaled(w), w.input({2, 4, 8, 12}))));
       },
       1, 1},
      {"keep",
       [scaled](FormWriter& w) {
         V mask = w.input({2, 1, 8, 12}, DType::Bool);
         w.output(w.softmax(w.op("Where", {mask, scaled(w), w.number(-1e9)})));
       },
       1, 1},
      {"drop",
       [](FormWriter& w) {
         V mask = w.input({8, 12}, DType::Bool);
         w.output(w.softmax(w.op("Where", {mask, w.number(-1e4), w.input({2, 4, 8, 12})})));
       },
       1, 1},
      {"along_rows",
       [scaled](FormWriter& w) {
         w.output(w.softmax(w.add(scaled(w), w.input({8, 1})), 2));
       },
       1, 1},
      {"sum_of_two",
       [](FormWriter& w) {
         w.output(w.softmax(w.add(w.input({2, 4, 8, 12}), w.input({2, 4, 8, 12}))));
       },
       0, 1},
      {"bias",
       [](FormWriter& w) {
         w.output(w.softmax(w.add(w.matmul(w.input({8, 16}), w.weights({16, 12})), w.weights({12}))));
       },
       0, 2},
      {"constant_mask",
       [](FormWriter& w) {
         w.output(w.softmax(w.add(w.input({2, 4, 8, 12}), w.weights({8, 12}))));
       },
       1, 1},
      {"scaled_values_are_an_output",
       [scaled](FormWriter& w) {
         V x = scaled(w);
         w.output(w.softmax(x)).output(x);
       },
       0, 1},
      {"scaled_by_a_tensor",
       [](FormWriter& w) {
         w.output(w.softmax(w.mul(w.input({2, 4, 8, 12}), w.weights({12}))));
       },
       0, 1},
  };
  expect_forms(forms, "ScaledMaskedSoftmaxFusionPass");
}

TEST(SoftmaxForms, Pooling) {
  // Scores [3, 50, 1] of values [3, 50, 70].
  const auto by = [](auto f) {
    return [f](FormWriter& w) {
      V x = w.input({3, 50, 70});
      w.output(f(w, x, w.input({3, 50, 1}, DType::F32, 4)));
    };
  };
  const std::vector<ExporterForm> forms = {
      {"product_and_sum", by([](FormWriter& w, V x, V s) { return w.sum(w.mul(w.softmax(s, 1), x), 1); }), 1,
       1},
      {"axis_stays", by([](FormWriter& w, V x, V s) { return w.sum(w.mul(x, w.softmax(s, 1)), -2, true); }),
       1, 1},
      {"expanded", by([](FormWriter& w, V x, V s) {
         V wide = w.op("Expand", {w.softmax(s, 1), w.ints({3, 50, 70})});
         return w.sum(w.mul(wide, x), 1);
       }),
       1, 1},
      {"unsqueezed", by([](FormWriter& w, V x, V s) {
         return w.sum(w.mul(w.unsqueeze(w.softmax(w.squeeze(s, 2), 1), 2), x), 1);
       }),
       1, 1},
      {"transposed_scores", by([](FormWriter& w, V x, V s) {
         V t = w.softmax(w.transpose(s, {0, 2, 1}), 2);
         return w.sum(w.mul(w.transpose(t, {0, 2, 1}), x), 1);
       }),
       1, 1},
      {"last_axis",
       [](FormWriter& w) {
         V s = w.softmax(w.input({3, 1, 50}), -1);
         w.output(w.sum(w.mul(s, w.input({3, 70, 50})), 2));
       },
       1, 1},
      {"matrix_product", by([](FormWriter& w, V x, V s) {
         return w.squeeze(w.matmul(w.unsqueeze(w.softmax(w.squeeze(s, 2)), 1), x), 1);
       }),
       1, 1},
      {"transposed_matrix_product", by([](FormWriter& w, V x, V s) {
         return w.matmul(w.transpose(w.softmax(s, 1), {0, 2, 1}), x);
       }),
       1, 1},
      {"masked", by([](FormWriter& w, V x, V s) {
         return w.sum(w.mul(w.softmax(w.add(s, w.input({3, 50, 1})), 1), x), 1);
       }),
       1, 1},
      {"written_out", by([](FormWriter& w, V x, V s) {
         V e = w.op("Exp", {s});
         return w.sum(w.mul(w.div(e, w.sum(e, 1, true)), x), 1);
       }),
       1, 1},
      // Longer than the Unified Buffer holds: the scores go through it in chunks.
      {"long",
       [](FormWriter& w) {
         V x = w.input({1, 6000, 40});
         w.output(w.sum(w.mul(w.softmax(w.input({1, 6000, 1}), 1), x), 1));
       },
       1, 1},
      {"two_dimensions",
       [](FormWriter& w) {
         V x = w.input({50, 70});
         w.output(w.matmul(w.softmax(w.input({1, 50})), x));
       },
       1, 1},
      {"weights_are_an_output", by([](FormWriter& w, V x, V s) {
         V weights = w.softmax(s, 1);
         w.output(weights);
         return w.sum(w.mul(weights, x), 1);
       }),
       1, 1},
      {"weights_are_read_behind", by([](FormWriter& w, V x, V s) {
         V weights = w.softmax(s, 1);
         w.output(w.op("Exp", {weights}));
         return w.sum(w.mul(weights, x), 1);
       }),
       1, 2},
      // Another shape of the weights is the output; and two poolings by the same weights.
      {"squeezed_weights_are_an_output", by([](FormWriter& w, V x, V s) {
         V weights = w.softmax(w.squeeze(s, 2), 1);
         w.output(weights);
         return w.matmul(w.unsqueeze(weights, 1), x);
       }),
       1, 1},
      {"weights_of_two_values", by([](FormWriter& w, V x, V s) {
         V weights = w.softmax(s, 1);
         w.output(w.sum(w.mul(weights, w.input({3, 50, 9})), 1));
         return w.sum(w.mul(weights, x), 1);
       }),
       1},
      // Longer than a tile: each core has columns, one of them stores the weights.
      {"long_weights_are_an_output",
       [](FormWriter& w) {
         V x = w.input({2, 600, 900});
         V weights = w.softmax(w.input({2, 600, 1}), 1);
         w.output(weights).output(w.sum(w.mul(weights, x), 1));
       },
       1, 1},
      {"weights_along_columns_are_an_output",
       [](FormWriter& w) {
         V x = w.input({2, 300, 500});
         V weights = w.softmax(w.input({2, 1, 500}), 2);
         w.output(weights).output(w.sum(w.mul(weights, x), 2));
       },
       1, 1},
      // The values follow from the weights.
      {"values_of_the_weights", by([](FormWriter& w, V x, V s) {
         V weights = w.softmax(s, 1);
         return w.sum(w.mul(weights, w.add(x, w.op("Exp", {weights}))), 1);
       }),
       0},
      {"products_are_an_output", by([](FormWriter& w, V x, V s) {
         V products = w.mul(w.softmax(s, 1), x);
         w.output(products);
         return w.sum(products, 1);
       }),
       0},
      {"summed_along_another_axis",
       by([](FormWriter& w, V x, V s) { return w.sum(w.mul(w.softmax(s, 1), x), 2); }), 0},
      {"softmax_along_another_axis",
       by([](FormWriter& w, V x, V s) { return w.sum(w.mul(w.softmax(s, 0), x), 1); }), 0},
      {"weights_of_every_value",
       [](FormWriter& w) {
         V x = w.input({3, 50, 70});
         w.output(w.sum(w.mul(w.softmax(w.input({3, 50, 70}), 1), x), 1));
       },
       0, 1},
      {"several_rows",
       [](FormWriter& w) {
         V x = w.input({3, 50, 70});
         w.output(w.matmul(w.softmax(w.input({3, 2, 50})), x));
       },
       0},
  };
  expect_forms(forms, "SoftmaxMulReduceSumFusionPass");
}

}  // namespace
}  // namespace atc::runtime
