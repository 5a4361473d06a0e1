// Transpositions around products, rolls and windows as exporters write them, and pools of whole planes.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;
constexpr std::string_view kNone = "none";  // passes that count under no name

ExporterForm form(std::string name, std::function<void(FormWriter&)> write, int tasks) {
  return {std::move(name), std::move(write), 0, tasks};
}
V gelu(FormWriter& w, V x) {
  V gate = w.add(w.op("Erf", {w.div(x, w.number(1.4142135))}), w.number(1));
  return w.mul(w.mul(x, gate), w.number(0.5));
}
V linear(FormWriter& w, V x, std::int64_t from, std::int64_t to) {
  return w.add(w.matmul(x, w.weights({from, to})), w.weights({to}));
}

TEST(ProductForms, MixingAlongTokens) {
  expect_forms({form(
                    "mixer",
                    [](FormWriter& w) {
                      V x = w.input({2, 20, 24});
                      V y = linear(w, gelu(w, linear(w, w.transpose(x, {0, 2, 1}), 20, 40)), 40, 20);
                      w.output(w.add(x, w.transpose(y, {0, 2, 1})));
                    },
                    2),
                form(
                    "one_product",
                    [](FormWriter& w) {
                      V y = linear(w, w.transpose(w.input({3, 17, 9}), {0, 2, 1}), 17, 33);
                      w.output(w.op("Relu", {w.transpose(y, {0, 2, 1})}));
                    },
                    1)},
               kNone);
}

// Read where they lie: no copy is transposed.
TEST(ProductForms, TransposedOperands) {
  expect_forms({form(
                    "first",
                    [](FormWriter& w) {
                      w.output(w.matmul(w.transpose(w.input({3, 17, 9}), {0, 2, 1}), w.input({3, 17, 40})));
                    },
                    1),
                form(
                    "both",
                    [](FormWriter& w) {
                      w.output(w.matmul(w.transpose(w.input({2, 33, 20}), {0, 2, 1}),
                                        w.transpose(w.input({2, 7, 33}), {0, 2, 1})));
                    },
                    1),
                form(
                    "first_with_weights",
                    [](FormWriter& w) {
                      w.output(linear(w, w.transpose(w.input({2, 50, 70}), {0, 2, 1}), 50, 30));
                    },
                    1),
                form(
                    "gemm",
                    [](FormWriter& w) {
                      w.output(w.op("Gemm", {w.input({33, 20}), w.weights({33, 40}), w.weights({40})},
                                    {{"transA", std::int64_t{1}}}));
                    },
                    1),
                // Others read the transposed copy: it is there anyway.
                form(
                    "read_elsewhere",
                    [](FormWriter& w) {
                      V t = w.transpose(w.input({2, 50, 70}), {0, 2, 1});
                      w.output(t).output(w.matmul(t, w.input({2, 50, 30})));
                    },
                    2)},
               kNone);
}

V roll(FormWriter& w, V x, std::int64_t axis, std::int64_t length, std::int64_t by) {
  return w.concat({w.slice(x, axis, by, length), w.slice(x, axis, 0, by)}, axis);
}
V windows(FormWriter& w, V x) {
  return w.reshape(w.transpose(w.reshape(x, {1, 2, 4, 3, 4, 24}), {0, 1, 3, 2, 4, 5}), {6, 16, 24});
}
V plane(FormWriter& w, V x) {
  return w.reshape(w.transpose(w.reshape(x, {1, 2, 3, 4, 4, 24}), {0, 1, 3, 2, 4, 5}), {1, 8, 12, 24});
}

// Shifted windows: one copy into the windows, one back.
TEST(CopyForms, ShiftedWindows) {
  expect_forms({form(
                    "there_and_back",
                    [](FormWriter& w) {
                      V x = w.input({1, 8, 12, 24});
                      V y = windows(w, roll(w, roll(w, x, 1, 8, 2), 2, 12, 2));
                      y = plane(w, linear(w, y, 24, 24));
                      w.output(w.add(x, roll(w, roll(w, y, 1, 8, 6), 2, 12, 10)));
                    },
                    4),
                form(
                    "roll_of_two_axes",
                    [](FormWriter& w) {
                      w.output(w.op("Relu", {roll(w, roll(w, w.input({2, 9, 7, 16}), 1, 9, 4), 2, 7, 3)}));
                    },
                    2)},
               kNone);
}

TEST(PoolForms, OfTheWholePlane) {
  const auto pooled = [](const char* op) {
    return [op](FormWriter& w) {
      V x = w.op("Relu", {w.input({2, 16, 7, 5})});
      V y = w.op(op, {x}, {{"kernel_shape", Dims{7, 5}}});
      w.output(w.mul(x, w.op("Sigmoid", {y})));
    };
  };
  // With what stands in front of it and behind it, as ReduceMean is.
  const auto reduced = [](FormWriter& w) {
    V x = w.op("Relu", {w.input({2, 16, 7, 5})});
    w.output(w.mul(x, w.op("Sigmoid", {w.mean(x, {2, 3})})));
  };
  expect_forms({form("average", pooled("AveragePool"), 1), form("max", pooled("MaxPool"), 1),
                form("mean", reduced, 1)},
               kNone);
}

}  // namespace
}  // namespace atc::runtime
