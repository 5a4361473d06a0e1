// Attention as exporters write it out: one kernel that keeps the scores on the chip, with the same values.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;

constexpr std::int64_t kBatch = 2, kRows = 6, kHeads = 4, kWidth = 16, kAll = kHeads * kWidth;
constexpr std::string_view kFusion = "ZAttentionScoreFusionPass";

V projected(FormWriter& w, V x, std::int64_t columns = kAll) {
  return w.add(w.matmul(x, w.weights({kAll, columns}, 0.3)), w.weights({columns}));
}
V heads(FormWriter& w, V x, std::int64_t rows = kRows, std::int64_t n = kHeads) {
  return w.transpose(w.reshape(x, {kBatch, rows, n, kWidth}), {0, 2, 1, 3});
}
V merged(FormWriter& w, V y) { return w.reshape(w.transpose(y, {0, 2, 1, 3}), {kBatch, kRows, kAll}); }
V swapped(FormWriter& w, V k) { return w.transpose(k, {0, 1, 3, 2}); }
V input(FormWriter& w, std::int64_t rows = kRows) { return w.input({kBatch, rows, kAll}); }
V scale(FormWriter& w) { return w.number(0.25); }

struct Qkv {
  V q, k, v;
};
Qkv self(FormWriter& w) {
  V x = input(w);
  return {heads(w, projected(w, x)), heads(w, projected(w, x)), heads(w, projected(w, x))};
}

/// Plain attention whose scores, weights or operands `change` alters.
struct Hooks {
  std::function<void(FormWriter&, Qkv&)> operands = [](FormWriter&, Qkv&) {};
  std::function<V(FormWriter&, V)> scores = [](FormWriter& w, V s) { return w.mul(s, scale(w)); };
  std::function<V(FormWriter&, V)> weights = [](FormWriter& w, V s) { return w.softmax(s); };
};
ExporterForm form(std::string name, Hooks hooks, int tasks = 2, int effects = 1) {
  return {std::move(name),
          [hooks](FormWriter& w) {
            Qkv a = self(w);
            hooks.operands(w, a);
            V s = hooks.scores(w, w.matmul(a.q, swapped(w, a.k)));
            w.output(merged(w, w.matmul(hooks.weights(w, s), a.v)));
          },
          effects, effects > 0 ? tasks : -1};
}
Hooks with_scores(std::function<V(FormWriter&, V)> f) {
  Hooks h;
  h.scores = std::move(f);
  return h;
}
Hooks with_weights(std::function<V(FormWriter&, V)> f) {
  Hooks h;
  h.weights = std::move(f);
  return h;
}
Hooks with_operands(std::function<void(FormWriter&, Qkv&)> f) {
  Hooks h;
  h.operands = std::move(f);
  h.scores = [](FormWriter&, V s) { return s; };
  return h;
}
Hooks masked(std::function<V(FormWriter&, V)> f) {
  return with_scores([f](FormWriter& w, V s) { return f(w, w.mul(s, scale(w))); });
}
Tensor triangle(double kept, double hidden, DType dtype) {
  std::vector<double> values;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kRows; ++j) values.push_back(j <= i ? kept : hidden);
  return from_doubles(dtype, {1, 1, kRows, kRows}, values);
}

TEST(AttentionForms, Scales) {
  const std::vector<ExporterForm> forms = {
      form("mul_of_scores", {}),
      form("div_of_scores", with_scores([](FormWriter& w, V s) { return w.div(s, w.number(4)); })),
      form("mul_of_queries", with_operands([](FormWriter& w, Qkv& a) { a.q = w.mul(a.q, scale(w)); })),
      form("div_of_queries", with_operands([](FormWriter& w, Qkv& a) { a.q = w.div(a.q, w.number(4)); })),
      form("roots_of_both", with_operands([](FormWriter& w, Qkv& a) {
             a.q = w.mul(a.q, w.number(0.5));
             a.k = w.mul(w.number(0.5), a.k);
           })),
      form("scale_of_shape_1x1x1x1", with_scores([](FormWriter& w, V s) {
             return w.mul(s, w.reals({1, 1, 1, 1}, {0.25}));
           })),
      // A factor a column is a mask of another kind.
      form("scale_of_columns", with_scores([](FormWriter& w, V s) { return w.mul(s, w.weights({kRows})); }),
           -1, 0),
  };
  expect_forms(forms, kFusion);
}

TEST(AttentionForms, Masks) {
  const auto where = [](V condition, V yes, V no) { return std::vector<V>{condition, yes, no}; };
  const std::vector<ExporterForm> forms = {
      form("added_to_columns", masked([](FormWriter& w, V s) {
             return w.add(s, w.input({kBatch, 1, 1, kRows}));
           })),
      form("added_to_all", masked([](FormWriter& w, V s) {
             return w.add(w.input({kBatch, 1, kRows, kRows}), s);
           })),
      form("causal_constant",
           masked([](FormWriter& w, V s) { return w.add(s, w.constant(triangle(0, -1e9, DType::F32))); })),
      form("keep", masked([where](FormWriter& w, V s) {
             return w.op("Where", where(w.input({kBatch, 1, 1, kRows}, DType::Bool), s, w.number(-1e9)));
           })),
      form("drop", masked([where](FormWriter& w, V s) {
             return w.op("Where", where(w.input({kBatch, 1, kRows, kRows}, DType::Bool), w.number(-1e9), s));
           })),
      form("causal_keep", masked([where](FormWriter& w, V s) {
             return w.op("Where", where(w.constant(triangle(1, 0, DType::Bool)), s, w.number(-1e9)));
           })),
      form("expanded", masked([where](FormWriter& w, V s) {
             V m = w.op("Expand", {w.input({kBatch, 1, 1, kRows}, DType::Bool),
                                   w.ints({kBatch, kHeads, kRows, kRows})});
             return w.op("Where", where(m, s, w.number(-1e9)));
           })),
      form("trilu", masked([](FormWriter& w, V s) {
             V full = w.op("ConstantOfShape", {w.ints({kRows, kRows})},
                           {{"value", from_doubles(DType::F32, {1}, std::vector<double>{-1e9})}});
             return w.add(s, w.op("Trilu", {full, w.index(1)}, {{"upper", std::int64_t{1}}}));
           })),
      form("of_token_numbers", masked([](FormWriter& w, V s) {
             V keep = w.cast(w.reshape(w.indices({kBatch, kRows}, 2), {kBatch, 1, 1, kRows}), DType::F32);
             return w.add(s, w.mul(w.sub(w.number(1), keep), w.number(-1e4)));
           }),
           3),
      form(
          "two_sums", masked([](FormWriter& w, V s) {
            return w.add(w.add(s, w.constant(triangle(0, -1e9, DType::F32))), w.input({kBatch, 1, 1, kRows}));
          })),
      // Three, one of them subtracted: one small sum in front.
      form("three_sums", masked([](FormWriter& w, V s) {
             V x = w.add(w.add(s, w.constant(triangle(0, -1e9, DType::F32))), w.input({kBatch, 1, 1, kRows}));
             return w.sub(x, w.input({kRows, kRows}));
           }),
           3),
      // A causal edge by Where, padding by Add, on either side of it; in a row that sees nothing the order
      // tells.
      form("where_then_add", masked([where](FormWriter& w, V s) {
             V seen = w.op("Where", where(w.constant(triangle(1, 0, DType::Bool)), s, w.number(-3)));
             return w.add(seen, w.input({kBatch, 1, 1, kRows}));
           })),
      form("add_then_where", masked([where](FormWriter& w, V s) {
             V sum = w.add(w.input({kBatch, 1, 1, kRows}), s);
             return w.op("Where", where(w.input({kBatch, 1, kRows, kRows}, DType::Bool), w.number(-3), sum));
           })),
      form("two_conditions", masked([where](FormWriter& w, V s) {
             V causal = w.op("Where", where(w.constant(triangle(1, 0, DType::Bool)), s, w.number(-3)));
             return w.op("Where", where(w.input({kBatch, 1, 1, kRows}, DType::Bool), w.number(-3), causal));
           }),
           3),
      form("two_conditions_and_two_sums", masked([where](FormWriter& w, V s) {
             V x = w.add(w.add(s, w.input({kRows, kRows})), w.input({kBatch, 1, 1, kRows}));
             x = w.op("Where", where(w.constant(triangle(1, 0, DType::Bool)), x, w.number(-3)));
             return w.op("Where", where(w.input({kBatch, 1, 1, kRows}, DType::Bool), x, w.number(-3)));
           }),
           4),
      // Shifted windows: a bias of heads on [B * windows, heads, ...], the windows' mask on [B, windows,
      // heads, ...].
      form("windows", masked([](FormWriter& w, V s) {
             V x = w.add(s, w.weights({1, kHeads, kRows, kRows}));
             x = w.reshape(x, {1, kBatch, kHeads, kRows, kRows});
             x = w.add(x, w.unsqueeze(w.unsqueeze(w.input({kBatch, kRows, kRows}), 1), 0));
             return w.reshape(x, {kBatch, kHeads, kRows, kRows});
           })),
      // The scores' heads come apart in between: no strides of a mask follow both.
      form("three_sums_in_other_dims", masked([](FormWriter& w, V s) {
             V x = w.add(w.add(s, w.weights({1, kHeads, kRows, kRows})), w.input({kBatch, 1, 1, kRows}));
             x = w.reshape(x, {1, kBatch, kHeads, kRows, kRows});
             x = w.add(x, w.input({1, kBatch, 1, kRows, kRows}));
             return w.reshape(x, {kBatch, kHeads, kRows, kRows});
           }),
           -1, 0),
      // No single mask does what these do.
      form("conditions_with_other_fills", masked([where](FormWriter& w, V s) {
             V causal = w.op("Where", where(w.constant(triangle(1, 0, DType::Bool)), s, w.number(-3)));
             return w.op("Where", where(w.input({kBatch, 1, 1, kRows}, DType::Bool), causal, w.number(-5)));
           }),
           -1, 0),
      form("sums_on_both_sides_of_a_condition", masked([where](FormWriter& w, V s) {
             V x = w.add(s, w.input({kRows, kRows}));
             x = w.op("Where", where(w.constant(triangle(1, 0, DType::Bool)), x, w.number(-3)));
             return w.add(x, w.input({kBatch, 1, 1, kRows}));
           }),
           -1, 0),
      // A mask outside the scale acts otherwise.
      form("scaled_with_the_mask", with_scores([](FormWriter& w, V s) {
             return w.mul(w.add(s, w.input({kRows, kRows})), scale(w));
           }),
           -1, 0),
  };
  expect_forms(forms, kFusion, 2e-2);
}

TEST(AttentionForms, Softmaxes) {
  const std::vector<ExporterForm> forms = {
      form("positive_axis", with_weights([](FormWriter& w, V s) { return w.softmax(s, 3); })),
      form("written_out", with_weights([](FormWriter& w, V s) {
             V e = w.op("Exp", {w.sub(s, w.most(s))});
             return w.div(e, w.sum(e, 3, true));
           })),
      form("dropout", with_weights([](FormWriter& w, V s) { return w.op("Dropout", {w.softmax(s)}); })),
      form("cast", with_weights([](FormWriter& w, V s) {
             return w.cast(w.softmax(w.cast(s, DType::F32)), DType::F32);
           })),
      form("capped", with_scores([](FormWriter& w, V s) {
             return w.mul(w.op("Tanh", {w.div(s, w.number(3))}), w.number(3));
           })),
      // Rows that see nothing are zero, not NaN.
      form("hidden_rows", with_weights([](FormWriter& w, V s) {
             std::vector<double> mask(kRows * kRows, 0.0);
             for (int i = 0; i < kRows; ++i) mask[static_cast<std::size_t>(2 * kRows + i)] = -INFINITY;
             V p = w.softmax(w.add(s, w.reals({kRows, kRows}, mask)));
             return w.op("Where", {w.op("IsNaN", {p}), w.number(0), p});
           })),
      form("another_value_for_nan", with_weights([](FormWriter& w, V s) {
             V p = w.softmax(s);
             return w.op("Where", {w.op("IsNaN", {p}), w.number(1), p});
           }),
           -1, 0),
      form("weights_are_an_output", with_weights([](FormWriter& w, V s) {
             V p = w.softmax(s);
             w.output(p);
             return p;
           }),
           -1, 0),
      form("along_rows", with_weights([](FormWriter& w, V s) { return w.softmax(s, 2); }), -1, 0),
  };
  expect_forms(forms, kFusion);
}

/// [B, 2, S, D] keys or values to all four heads, each twice in a row.
using Repeat = std::function<V(FormWriter&, V)>;
ExporterForm grouped(std::string name, Repeat repeat, int effects = 1) {
  return {std::move(name),
          [repeat](FormWriter& w) {
            V x = input(w);
            V q = heads(w, projected(w, x));
            V k = repeat(w, heads(w, projected(w, x, 2 * kWidth), kRows, 2));
            V v = repeat(w, heads(w, projected(w, x, 2 * kWidth), kRows, 2));
            V s = w.matmul(w.mul(q, scale(w)), swapped(w, k));
            w.output(merged(w, w.matmul(w.softmax(s), v)));
          },
          effects, effects > 0 ? 2 : -1};
}

TEST(AttentionForms, SharedHeads) {
  const auto joined = [](FormWriter& w, V t) { return w.reshape(t, {kBatch, kHeads, kRows, kWidth}); };
  std::vector<ExporterForm> forms = {
      grouped("expand",
              [joined](FormWriter& w, V t) {
                return joined(w, w.op("Expand", {w.unsqueeze(t, 2), w.ints({kBatch, 2, 2, kRows, kWidth})}));
              }),
      grouped("tile",
              [joined](FormWriter& w, V t) {
                return joined(w, w.op("Tile", {w.unsqueeze(t, 2), w.ints({1, 1, 2, 1, 1})}));
              }),
      grouped("concat",
              [joined](FormWriter& w, V t) {
                V u = w.unsqueeze(t, 2);
                return joined(w, w.concat({u, u}, 2));
              }),
      grouped("gather",
              [](FormWriter& w, V t) {
                return w.op("Gather", {t, w.ints({0, 0, 1, 1})}, {{"axis", std::int64_t{1}}});
              }),
  };
  // Other heads than in groups: the copies stay, the attention takes them.
  forms.push_back(grouped("gather_in_turn", [](FormWriter& w, V t) {
    return w.op("Gather", {t, w.ints({0, 1, 0, 1})}, {{"axis", std::int64_t{1}}});
  }));
  forms.back().tasks = -1;
  forms.push_back({"groups_of_queries",
                   [](FormWriter& w) {
                     V x = input(w);
                     V q = w.reshape(heads(w, projected(w, x)), {kBatch, 2, 2, kRows, kWidth});
                     V k = w.unsqueeze(heads(w, projected(w, x, 2 * kWidth), kRows, 2), 2);
                     V v = w.unsqueeze(heads(w, projected(w, x, 2 * kWidth), kRows, 2), 2);
                     V s = w.matmul(w.mul(q, scale(w)), w.transpose(k, {0, 1, 2, 4, 3}));
                     s = w.add(s, w.input({kBatch, 1, 1, 1, kRows}));
                     V y = w.matmul(w.softmax(s), v);
                     w.output(merged(w, w.reshape(y, {kBatch, kHeads, kRows, kWidth})));
                   },
                   1, 3});
  expect_forms(forms, kFusion);
}

TEST(AttentionForms, Projections) {
  const auto attention = [](FormWriter& w, V q, V k, V v) {
    w.output(merged(w, w.matmul(w.softmax(w.matmul(w.mul(q, scale(w)), swapped(w, k))), v)));
  };
  const std::vector<ExporterForm> forms = {
      {"split",
       [=](FormWriter& w) {
         const auto p = w.split(projected(w, input(w), 3 * kAll), 2, {kAll, kAll, kAll});
         attention(w, heads(w, p[0]), heads(w, p[1]), heads(w, p[2]));
       },
       1, 2},
      {"slices",
       [=](FormWriter& w) {
         V y = projected(w, input(w), 3 * kAll);
         const auto part = [&](std::int64_t i) { return heads(w, w.slice(y, 2, i * kAll, (i + 1) * kAll)); };
         V q = part(0), k = part(1);
         attention(w, q, k, part(2));
       },
       1, 2},
      {"one_transposition",
       [=](FormWriter& w) {
         V t = w.transpose(w.reshape(projected(w, input(w), 3 * kAll), {kBatch, kRows, 3, kHeads, kWidth}),
                           {2, 0, 3, 1, 4});
         const auto part = [&](std::int64_t i) { return w.op("Gather", {t, w.index(i)}); };
         V q = part(0), k = part(1);
         attention(w, q, k, part(2));
       },
       1, 2},
      {"split_heads",
       [=](FormWriter& w) {
         V t = w.transpose(w.reshape(projected(w, input(w), 3 * kAll), {kBatch, kRows, kHeads, 3 * kWidth}),
                           {0, 2, 1, 3});
         const auto p = w.split(t, 3, {kWidth, kWidth, kWidth});
         attention(w, p[0], p[1], p[2]);
       },
       1, 2},
      {"cross",
       [=](FormWriter& w) {
         V x = input(w), m = input(w, 9);
         attention(w, heads(w, projected(w, x)), heads(w, projected(w, m), 9), heads(w, projected(w, m), 9));
       },
       1, 3},
      {"keys_transposed_at_once",
       [=](FormWriter& w) {
         V x = input(w);
         V k = w.transpose(w.reshape(projected(w, x), {kBatch, kRows, kHeads, kWidth}), {0, 2, 3, 1});
         V s = w.matmul(heads(w, projected(w, x)), k);
         w.output(merged(w, w.matmul(w.softmax(w.mul(s, scale(w))), heads(w, projected(w, x)))));
       },
       1, 2},
      {"cache",
       [=](FormWriter& w) {
         const Qkv a = self(w);
         V k = w.concat({w.input({kBatch, kHeads, 5, kWidth}), a.k}, 2);
         V v = w.concat({w.input({kBatch, kHeads, 5, kWidth}), a.v}, -2);
         attention(w, a.q, k, v);
       },
       1, 2},
      {"cache_returned",
       [=](FormWriter& w) {
         const Qkv a = self(w);
         V k = w.concat({w.input({kBatch, kHeads, 5, kWidth}), a.k}, 2);
         V v = w.concat({w.input({kBatch, kHeads, 5, kWidth}), a.v}, 2);
         w.output(k).output(v);
         attention(w, a.q, k, v);
       },
       1},
      {"einsum",
       [=](FormWriter& w) {
         V x = input(w);
         const auto part = [&] { return w.reshape(projected(w, x), {kBatch, kRows, kHeads, kWidth}); };
         V q = part(), k = part();
         V s = w.op("Einsum", {q, k}, {{"equation", std::string("bqhd,bkhd->bhqk")}});
         V y = w.op("Einsum", {w.softmax(w.mul(s, scale(w))), part()},
                    {{"equation", std::string("bhqk,bkhd->bqhd")}});
         w.output(w.reshape(y, {kBatch, kRows, kAll}));
       },
       1, 2},
      // Pixels attend to pixels: [channels, pixels] times transposed weights.
      {"columns",
       [=](FormWriter& w) {
         V x = w.input({kBatch, kRows, 3 * kWidth});
         const auto p = w.split(w.transpose(x, {0, 2, 1}), 1, {kWidth, kWidth, kWidth});
         V s = w.matmul(w.transpose(p[0], {0, 2, 1}), p[1]);
         V weights = w.softmax(w.mul(s, scale(w)));
         w.output(w.matmul(p[2], w.transpose(weights, {0, 2, 1})));
       },
       1},
      {"columns_with_weights_that_are_an_output",
       [=](FormWriter& w) {
         V q = w.input({kBatch, kRows, kWidth}), k = w.input({kBatch, kWidth, kRows});
         V weights = w.softmax(w.matmul(q, k));
         w.output(weights).output(w.matmul(w.input({kBatch, 8, kRows}), w.transpose(weights, {0, 2, 1})));
       },
       0},
      {"rank_3",
       [=](FormWriter& w) {
         V x = w.input({kRows, kBatch, kAll});
         const auto part = [&] {
           return w.transpose(w.reshape(projected(w, x), {kRows, kBatch * kHeads, kWidth}), {1, 0, 2});
         };
         V q = w.mul(part(), scale(w)), k = part();
         V y = w.matmul(w.softmax(w.matmul(q, w.transpose(k, {0, 2, 1}))), part());
         w.output(w.reshape(w.transpose(y, {1, 0, 2}), {kRows, kBatch, kAll}));
       },
       1, 2},
      {"one_head",
       [=](FormWriter& w) {
         V x = input(w);
         V s = w.matmul(projected(w, x), w.transpose(projected(w, x), {0, 2, 1}));
         w.output(w.matmul(w.softmax(w.mul(s, w.number(0.125))), projected(w, x)));
       },
       1, 2},
  };
  expect_forms(forms, kFusion);
}

}  // namespace
}  // namespace atc::runtime
