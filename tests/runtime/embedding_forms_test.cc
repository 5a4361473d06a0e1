// Embeddings as transformers begin with them: rows of tables, added and normalized, in one task.
#include "runtime/exporter_form.h"

namespace atc::runtime {
namespace {

using V = FormWriter::V;

constexpr std::int64_t kBatch = 2, kTokens = 7, kWidth = 48;

V rows(FormWriter& w, V table, V ids) { return w.op("Gather", {table, ids}, {{"axis", std::int64_t{0}}}); }
V words(FormWriter& w) { return rows(w, w.weights({31, kWidth}, 1), w.indices({kBatch, kTokens}, 31)); }
V layer_norm(FormWriter& w, V x) {
  return w.op("LayerNormalization", {x, w.weights({kWidth}, 1), w.weights({kWidth}, 1)},
              {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5F}});
}
ExporterForm form(std::string name, std::function<V(FormWriter&)> write, int tasks) {
  return {std::move(name), [write](FormWriter& w) { w.output(write(w)); }, 0, tasks};
}

TEST(EmbeddingForms, WithNorms) {
  expect_forms({form(
                    "words_positions_and_types",
                    [](FormWriter& w) {
                      V types = rows(w, w.weights({2, kWidth}, 1), w.indices({kBatch, kTokens}, 2));
                      return layer_norm(w, w.add(w.add(words(w), types), w.weights({1, kTokens, kWidth}, 1)));
                    },
                    1),
                form(
                    "words_alone", [](FormWriter& w) { return layer_norm(w, words(w)); }, 1),
                form(
                    "negative_indices",
                    [](FormWriter& w) {
                      V ids = w.sub(w.indices({kBatch, kTokens}, 31),
                                    w.constant(from_int64s(DType::I64, {}, Dims{31})));
                      return layer_norm(w, rows(w, w.weights({31, kWidth}, 1), ids));
                    },
                    2),
                form(
                    "int32_indices",
                    [](FormWriter& w) {
                      V ids = w.cast(w.indices({kBatch, kTokens}, 31), DType::I32);
                      return w.op("Relu", {rows(w, w.weights({31, kWidth}, 1), ids)});
                    },
                    2),
                // One position each batch, and one row for all tokens.
                form(
                    "one_token",
                    [](FormWriter& w) {
                      V e = rows(w, w.weights({31, kWidth}, 1), w.indices({kBatch, 1}, 31));
                      return layer_norm(w, w.add(e, w.input({kBatch, 1, kWidth})));
                    },
                    1),
                form(
                    "rows_of_a_computed_table",
                    [](FormWriter& w) {
                      V table = w.op("Tanh", {w.input({31, kWidth})});
                      return layer_norm(w, rows(w, table, w.indices({kBatch, kTokens}, 31)));
                    },
                    2),
                // More tokens than gathered rows: the rows are broadcast.
                form(
                    "rows_for_all_tokens",
                    [](FormWriter& w) {
                      V e = rows(w, w.weights({31, kWidth}, 1), w.indices({kBatch, 1}, 31));
                      return layer_norm(w, w.add(e, w.input({kBatch, kTokens, kWidth})));
                    },
                    2),
                form(
                    "rows_are_an_output",
                    [](FormWriter& w) {
                      V e = words(w);
                      w.output(e);
                      return layer_norm(w, e);
                    },
                    2)},
               "none");
}

}  // namespace
}  // namespace atc::runtime
