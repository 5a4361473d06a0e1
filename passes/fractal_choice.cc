#include "passes/fractal_choice.h"

#include <algorithm>
#include <optional>

#include "aicore/burst_cost.h"
#include "atc/base/math.h"
#include "ops/fractal_address.h"
#include "ops/fused_attention.h"
#include "ops/fused_views.h"
#include "ops/input_parts.h"
#include "passes/rewrite.h"

namespace atc::passes {
namespace {

using ir::Format;
using ir::Graph;
using ir::Node;
using ir::Value;

constexpr std::int64_t kBlock = 16;  // rows and columns of a fractal
constexpr std::int64_t kBytes = 2;   // of an element
// Tiles as the kernels' tilings usually choose them. They decide how long stretches are, not how many bytes.
constexpr std::int64_t kTileRows = 128, kTileCols = 128;
constexpr std::int64_t kProgramElements = 8192, kLeastProgramElements = 1024;

/// A value as matrices.
struct Matrix {
  std::int64_t batch = 1, rows = 1, cols = 1;
};

Matrix matrix_of(const Dims& d) {
  return {element_count(Dims(d.begin(), d.end() - 2)), d[d.size() - 2], d.back()};
}

/// Cycles of a node with a value row-major and in FRACTAL_NZ, times kScale.
struct Cost {
  std::int64_t rows = 0, fractal = 0;
  Cost& operator+=(const Cost& c) {
    rows += c.rows;
    fractal += c.fractal;
    return *this;
  }
};
constexpr std::int64_t kScale = 1000;
// The saving must be this part of the moves to count: nominal tiles are not known to be those of the tilings.
constexpr std::int64_t kLeastSaving = 4;

class Costs {
 public:
  explicit Costs(const soc::Chip& chip) : chip_(chip) {}

  /// `pieces` pieces of rows x cols of matrices `m` that the cube's operands are loaded in, K along the
  /// columns or down the rows, in parts of K that leave L1 room for the other operand and for the next piece.
  Cost to_l1(const Matrix& m, std::int64_t rows, std::int64_t cols, bool k_in_rows,
             std::int64_t pieces) const {
    const std::int64_t most =
        std::max(kBlock, chip_.l1 / 4 / ((k_in_rows ? cols : rows) * kBytes) / kBlock * kBlock);
    const std::int64_t k = k_in_rows ? rows : cols, part = std::min(k, most);
    const std::int64_t part_rows = k_in_rows ? part : rows, part_cols = k_in_rows ? cols : part;
    const auto cycles = [&](std::int64_t row_stride, std::int64_t block_stride) {
      const auto s = aicore::matrix_stretches(chip_, part_rows, part_cols, kBlock, row_stride, block_stride);
      return aicore::burst_cycles(chip_, s.blocks, s.elements * kBytes, false) * ceil_div(k, part);
    };
    return shared(cycles(m.cols, 0), cycles(kBlock, block_stride(m)), pieces, chip_.cube_blocks());
  }

  /// The same between Global Memory and UB.
  Cost to_ub(const Matrix& m, std::int64_t rows, std::int64_t cols, std::int64_t pieces, bool write,
             int cores) const {
    const bool whole = cols == m.cols;
    const std::int64_t nd =
        aicore::burst_cycles(chip_, whole ? 1 : rows, (whole ? rows * cols : cols) * kBytes, write);
    const bool all = rows * kBlock == block_stride(m);
    const std::int64_t nz = aicore::burst_cycles(chip_, all ? 1 : cols / kBlock,
                                                 (all ? rows * cols : rows * kBlock) * kBytes, write);
    return shared(nd, nz, pieces, cores);
  }

  /// What the cube does for rows that pad each of `m.batch` matrices with `fractals` products for 16 of them.
  Cost padded_rows(const Matrix& m, std::int64_t fractals) const {
    return shared(ceil_div(m.batch * m.rows, kBlock) * fractals,
                  m.batch * ceil_div(m.rows, kBlock) * fractals, 1, 1, chip_.cube_blocks());
  }

  int cube_cores() const { return chip_.cube_blocks(); }
  int vector_cores() const { return chip_.vector_blocks(); }

 private:
  static std::int64_t block_stride(const Matrix& m) { return round_up(m.rows, kBlock) * kBlock; }

  // The pieces are spread over the cores; a core takes whole ones.
  Cost shared(std::int64_t rows, std::int64_t fractal, std::int64_t pieces, std::int64_t cores,
              std::int64_t divisor = 1) const {
    const std::int64_t times = ceil_div(pieces, cores);
    return {rows * times * kScale / divisor, fractal * times * kScale / divisor};
  }

  const soc::Chip& chip_;
};

bool is_product(const Node& n) { return n.is_internal("MatMul") && n.attrs.has("epilogue"); }

bool spans(const Value& v, const Dims& space) {
  const Dims d = v.type.dims();
  return d.size() >= 2 && d.size() <= space.size() && d.back() == space.back() &&
         d[d.size() - 2] == space[space.size() - 2];
}

/// What node `n` pays for value `v`; nullopt when it must be row-major for it.
class NodeCost {
 public:
  NodeCost(const Node& n, const Costs& costs) : n_(n), costs_(costs) {}

  std::optional<Cost> of(const Value& v) const {
    if (!has_static_shapes(n_)) return std::nullopt;
    if (is_product(n_)) return product(v);
    if (n_.is_internal("Fused")) return program(v);
    if (n_.is_internal("Attention")) return attention(v);
    return std::nullopt;
  }

 private:
  std::optional<Cost> product(const Value& v) const {
    const Value &a = *n_.input(0), &b = *n_.input(1);
    const Dims out = n_.output(0)->type.dims();
    const Matrix am = matrix_of(a.type.dims()), om = matrix_of(out);
    const bool trans_a = n_.attrs.get_int("trans_a", 0) != 0, trans_b = n_.attrs.get_int("trans_b", 0) != 0;
    const bool packed = b.type.format == Format::FRACTAL_Z;
    if (&v == &b && packed) return std::nullopt;
    const std::int64_t k = trans_a ? am.rows : am.cols;
    const bool b_shared = packed || element_count(b.type.dims()) == om.cols * k;
    const std::int64_t tile_rows = std::min(om.rows, kTileRows), tile_cols = std::min(om.cols, kTileCols);
    const std::int64_t tiles = om.batch * ceil_div(om.rows, tile_rows) * ceil_div(om.cols, tile_cols);
    Cost sum;
    for (std::size_t i = 0; i < n_.inputs().size(); ++i) {
      if (n_.input(i) != &v) continue;
      if (i == 0) {
        sum += costs_.to_l1(am, trans_a ? k : tile_rows, trans_a ? tile_rows : k, trans_a, tiles);
      } else if (i == 1) {
        sum +=
            costs_.to_l1(matrix_of(b.type.dims()), trans_b ? tile_cols : k, trans_b ? k : tile_cols, !trans_b,
                         b_shared ? ceil_div(om.cols, tile_cols) : om.batch * ceil_div(om.cols, tile_cols));
      } else {
        if (!spans(v, out)) return std::nullopt;
        sum += costs_.to_ub(om, tile_rows, tile_cols, tiles, false, costs_.cube_cores());
      }
    }
    for (const Value* o : n_.outputs()) {
      if (o != &v) continue;
      if (v.type.dims() != out) return std::nullopt;
      sum += costs_.to_ub(om, tile_rows, tile_cols, tiles, true, costs_.cube_cores());
    }
    if (om.batch > 1 && b_shared && !trans_a)
      sum += costs_.padded_rows(om, ceil_div(om.cols, kBlock) * ceil_div(k, kBlock));
    return sum;
  }

  std::optional<Cost> program(const Value& v) const {
    if (ops::has_fused_views(n_)) return std::nullopt;
    const auto body = n_.attrs.get_graph("body");
    const auto parts = ops::input_parts(n_);
    const Dims gathers = n_.attrs.get_ints("gathers");
    Dims space;
    const auto widen = [&](const Dims& d) {
      if (d.size() > space.size()) space.insert(space.begin(), d.size() - space.size(), 1);
      for (std::size_t i = 0; i < d.size(); ++i)
        space[space.size() - 1 - i] = std::max(space[space.size() - 1 - i], d[d.size() - 1 - i]);
    };
    for (std::size_t i = 0; i < n_.inputs().size(); ++i) {
      if (ir::has_channel_blocks(n_.input(i)->type.format)) return std::nullopt;
      bool whole = i < body->inputs().size() && !parts.contains(i);
      for (std::size_t g = 0; g < gathers.size(); g += 2)
        whole = whole && gathers[g] != static_cast<std::int64_t>(i);
      if (n_.input(i) == &v && !whole) return std::nullopt;
      if (i < body->inputs().size())
        widen(parts.contains(i) ? parts.at(i).dims : body->inputs()[i]->type.dims());
    }
    for (const Value* x : n_.outputs()) {
      if (ir::has_channel_blocks(x->type.format)) return std::nullopt;
      widen(x->type.dims());
    }
    const Dims axes = n_.attrs.get_ints("reduce_axes");
    if (space.size() < 2 || !spans(v, space) || axes.size() > 1 ||
        (axes.size() == 1 && axes[0] + 2 < std::ssize(space)))
      return std::nullopt;
    // Rows of a tile, as the tiling of vector programs has them.
    const Matrix m = matrix_of(space);
    std::int64_t rows = std::clamp<std::int64_t>(kProgramElements / m.cols, 1, m.rows);
    while (m.batch * ceil_div(m.rows, rows) < costs_.vector_cores() && rows > 1 &&
           rows * m.cols > kLeastProgramElements)
      rows = (rows + 1) / 2;
    Cost sum;
    const std::int64_t tiles = m.batch * ceil_div(m.rows, rows);
    for (const Value* x : n_.inputs())
      if (x == &v) sum += costs_.to_ub(m, rows, m.cols, tiles, false, costs_.vector_cores());
    for (const Value* x : n_.outputs())
      if (x == &v) sum += costs_.to_ub(m, rows, m.cols, tiles, true, costs_.vector_cores());
    return sum;
  }

  std::optional<Cost> attention(const Value& v) const {
    auto spec = ops::attention_of(n_);
    if (!spec || n_.input(1) == &v || (ops::has_bias(n_) && n_.inputs().back() == &v)) return std::nullopt;
    const Matrix m = matrix_of(v.type.dims());
    Cost sum;
    for (const ops::AttentionHeads& h : ops::attention_heads(n_, *spec)) {
      if (h.value != &v) continue;
      if (h.transposed ||
          !ops::fractal_head(*h.address, v.type.dims(), spec->batch, h.heads, h.rows, h.width))
        return std::nullopt;
      const std::int64_t rows = std::clamp<std::int64_t>(h.rows, 1, kTileRows);
      const std::int64_t tiles = spec->batch * h.heads * ceil_div(h.rows, rows);
      sum += &v == n_.output(0) ? costs_.to_ub(m, rows, h.width, tiles, true, costs_.cube_cores())
                                : costs_.to_l1(m, rows, h.width, false, tiles);
    }
    return sum;
  }

  const Node& n_;
  const Costs& costs_;
};

// Rows that pad a matrix take memory while the value lives: at most an eighth.
bool pads_little(const Value& v) {
  const std::int64_t rows = matrix_of(v.type.dims()).rows;
  return (round_up(rows, kBlock) - rows) * 8 <= rows;
}

bool may_be_fractal(const Graph& g, const Value& v) {
  return v.producer() != nullptr && v.producer()->graph() == &g && !g.is_output(&v) && v.type.is_static() &&
         v.type.format == Format::ND && (v.type.dtype == DType::F16 || v.type.dtype == DType::BF16) &&
         ops::has_fractal_blocks(v.type.dims(), v.type.dtype) && pads_little(v) && !v.uses().empty();
}

}  // namespace

std::set<const Value*> fractal_values(const Graph& graph, const soc::Chip& chip) {
  const Costs costs(chip);
  std::set<const Value*> out;
  for (const auto& n : graph.nodes())
    for (const Value* v : n->outputs()) {
      if (v == nullptr || !may_be_fractal(graph, *v)) continue;
      std::set<const Node*> nodes = {n.get()};
      for (const Value::Use& use : v->uses()) nodes.insert(use.node);
      Cost sum;
      const bool all = std::ranges::all_of(nodes, [&](const Node* node) {
        const auto cost = node->graph() == &graph ? NodeCost(*node, costs).of(*v) : std::nullopt;
        if (cost) sum += *cost;
        return cost.has_value();
      });
      if (all && sum.rows - sum.fractal > sum.rows / kLeastSaving) out.insert(v);
    }
  return out;
}

}  // namespace atc::passes
