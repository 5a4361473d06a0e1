#include "kernels/cube_matmul_tiling.h"

#include <algorithm>

#include "aicore/burst_cost.h"
#include "kernels/kernel_list.h"
#include "kernels/program_params.h"
#include "kernels/task_packing.h"
#include "soc/chip.h"

namespace atc::kernels {
namespace {

constexpr std::string_view kName = kMatMulKernel;
constexpr std::int64_t kMostRows = 512;   // of a tile
constexpr std::int64_t kMostPanels = 64;  // of a tile
constexpr std::int64_t kUbSlack = 256;

template <class Archive>
void io_address(Archive& ar, MatrixAddress& a) {
  ar.io(a.offset);
  ar.io(a.batch_strides);
  ar.io(a.row_stride);
  ar.io(a.col_stride);
  ar.io(a.block_stride);
}

void io_layout(ParamWriter& ar, MatMulSpec::BLayout& v) { ar.io(static_cast<int>(v)); }
void io_layout(ParamReader& ar, MatMulSpec::BLayout& v) {
  int x = 0;
  ar.io(x);
  if (x < 0 || x > 2) return ar.fail();
  v = static_cast<MatMulSpec::BLayout>(x);
}

template <class Archive>
void io_tiling(Archive& ar, MatMulTiling& t) {
  ar.io(t.spec.batch);
  ar.io(t.spec.m);
  ar.io(t.spec.k);
  ar.io(t.spec.n);
  io_layout(ar, t.spec.b_layout);
  ar.io(t.spec.a_transposed);
  io_address(ar, t.spec.a);
  io_address(ar, t.spec.b);
  io_list(ar, t.spec.epilogue_operands, [](auto& a, auto& x) { io_address(a, x); });
  io_program(ar, t.spec.epilogue);
  ar.io(t.tile.m);
  ar.io(t.tile.panels);
  ar.io(t.tile.k_slice);
  ar.io(t.k_chunk);
  ar.io(t.ub_rows);
  ar.io(t.a_buffers);
  ar.io(t.b_buffers);
  ar.io(t.l0c_buffers);
  ar.io(t.rows_inner);
}

// What UB takes of the epilogue, of which `rows` rows run at once.
std::int64_t ub_bytes(const TileProgram& epilogue, std::int64_t rows, std::int64_t width, std::int64_t n) {
  return epilogue.ub_bytes(rows, width) + rows * width * 4 * (n % 16 == 0 ? 2 : 3) + kUbSlack;
}

// Whether a matrix of `cols` columns may lie like this; a load takes whole blocks of their rows.
bool legal_blocks(const MatrixAddress& a, std::int64_t cols) {
  return a.block_stride == 0 || (a.block_stride >= kBlockCols && a.block_stride <= std::int64_t{1} << 40 &&
                                 a.row_stride == kBlockCols && cols % kBlockCols == 0);
}

// A matrix as it lies in Global Memory, of which a tile takes `across` elements one way and C0 more the other
// way with each unit of K.
struct Lying {
  std::int64_t across;
  bool along_rows;  // units of K are columns
  bool whole_rows;  // of all of K: one stretch
  bool blocks;      // in FRACTAL_NZ
};

// The stretches of one unit of K, and whether more units are more of them; `mean_bytes` becomes what they are
// as bursts.
void set_stretches(const Lying& l, std::int64_t lanes, std::int64_t e, bool nd2nz, std::int64_t* blocks,
                   bool* grow, std::int64_t* mean_bytes) {
  if (l.blocks) {
    *blocks = l.along_rows ? 1 : ceil_div(l.across, kBlockCols);
    *grow = l.along_rows;
  } else if (!nd2nz && l.across > 1) {  // C0 columns of one row at a time
    *blocks = l.along_rows ? l.across : lanes * ceil_div(l.across, lanes);
    *grow = true;
    *mean_bytes = *blocks * round_up(lanes * e, aicore::kBurst);
  } else if (l.along_rows) {
    *blocks = l.whole_rows ? 1 : l.across;
  } else {
    *blocks = lanes;
    *grow = true;
  }
}

// What the loads of a tile of m rows x `panels` panels are made of.
TileOperands tile_operands(const MatMulSpec& s, std::int64_t m, std::int64_t panels, std::int64_t lanes,
                           std::int64_t e, const soc::Chip& chip) {
  TileOperands o;
  o.a_unit_bytes = o.a_mean_bytes = m * lanes * e;
  o.b_unit_bytes = panels * 16 * lanes * e;
  const bool nd2nz = aicore::has_nd2nz(chip);
  set_stretches({m, !s.a_transposed, s.a.row_stride == s.k, s.a.block_stride != 0}, lanes, e, nd2nz,
                &o.a_blocks, &o.a_blocks_grow, &o.a_mean_bytes);
  std::int64_t b_mean = 0;  // the estimate has no bursts of B
  if (s.b_layout == MatMulSpec::BLayout::Panels)
    o.b_blocks = panels;
  else
    set_stretches({panels * 16, s.b_layout == MatMulSpec::BLayout::Transposed, false, s.b.block_stride != 0},
                  lanes, e, nd2nz, &o.b_blocks, &o.b_blocks_grow, &b_mean);
  return o;
}

}  // namespace

MatMulSpec with_batch_in_rows(MatMulSpec s) {
  const auto goes_on = [&](const MatrixAddress& a) {
    if (a.block_stride != 0) return false;
    return s.m == 1 || checked_mul(s.m, a.row_stride) == a.batch_strides.back();
  };
  const auto take = [&](MatrixAddress& a) {
    if (s.m == 1) a.row_stride = a.batch_strides.back();
    a.batch_strides.pop_back();
  };
  while (!s.batch.empty()) {
    const std::int64_t n = s.batch.back();
    const auto rows = checked_mul(s.m, n);
    if (n > 1 &&
        (s.b.batch_strides.back() != 0 || !rows || *rows >= std::int64_t{1} << 31 || s.a_transposed ||
         !goes_on(s.a) || !std::all_of(s.epilogue_operands.begin(), s.epilogue_operands.end(), goes_on)))
      break;
    s.batch.pop_back();
    s.b.batch_strides.pop_back();
    if (n == 1) {
      s.a.batch_strides.pop_back();
      for (MatrixAddress& a : s.epilogue_operands) a.batch_strides.pop_back();
      continue;
    }
    take(s.a);
    for (MatrixAddress& a : s.epilogue_operands) take(a);
    s.m = *rows;
  }
  return s;
}

std::int64_t MatMulTiling::batches() const {
  std::int64_t b = 1;
  for (std::int64_t d : spec.batch) b *= d;
  return b;
}

bool MatMulTiling::b_shared() const {
  for (std::size_t d = 0; d < spec.batch.size(); ++d)
    if (spec.batch[d] > 1 && spec.b.batch_strides[d] != 0) return false;
  return true;
}

MatMulTiling::Place MatMulTiling::decode(std::int64_t number) const {
  Place p;
  const std::int64_t nt = n_tiles(), mt = m_tiles();
  if (!rows_inner) {
    p.nt = number % nt;
    p.mt = number / nt % mt;
    p.batch = number / nt / mt;
  } else if (b_shared()) {
    p.mt = number % mt;
    p.batch = number / mt % batches();
    p.nt = number / mt / batches();
  } else {
    p.mt = number % mt;
    p.nt = number / mt % nt;
    p.batch = number / mt / nt;
  }
  return p;
}

MatMulTiling MatMulTiling::with(const CubePlan& plan) const {
  MatMulTiling t = *this;
  t.tile = plan.tile;
  t.k_chunk = plan.k_chunk;
  t.ub_rows = plan.ub_rows;
  t.a_buffers = plan.a_buffers;
  t.b_buffers = plan.b_buffers;
  t.l0c_buffers = plan.l0c_buffers;
  t.rows_inner = plan.rows_inner;
  return t;
}

StatusOr<TileProgram> matmul_epilogue(const MatMulSpec& spec, const std::vector<Operand>& operands) {
  std::vector<Lanes> lanes;
  std::vector<DType> dtypes;
  std::vector<bool> blocked;
  for (std::size_t k = 0; k < spec.epilogue_operands.size(); ++k) {
    const MatrixAddress& a = spec.epilogue_operands[k];
    blocked.push_back(a.block_stride != 0);
    // Rows and columns of one tile may be single even where the matrix has more: lanes by strides.
    lanes.push_back(lanes_of(a.row_stride, a.col_stride, spec.m, spec.n));
    dtypes.push_back(operands[k + 2].dtype);
  }
  return TileProgram::create(spec.epilogue, std::move(lanes), std::move(dtypes), ReduceMode::None, {},
                             std::move(blocked));
}

std::vector<CubePlan> matmul_plans(const MatMulSpec& spec, const TileProgram& epilogue,
                                   const std::vector<Operand>& operands, const soc::Chip& chip, bool prune) {
  MatMulTiling t;
  t.spec = spec;
  const int e = bit_width(operands[0].dtype) / 8;
  const std::int64_t lanes = e == 1 ? 32 : 16, k1 = ceil_div(spec.k, lanes);
  const std::int64_t m1 = ceil_div(spec.m, 16), n1 = ceil_div(spec.n, 16);
  CubeProblem p = epilogue_problem(epilogue, operands);
  p.batches = t.batches();
  p.rows = spec.m;
  p.panels = n1;
  p.k_units = k1;
  p.element_bytes = e;
  p.b_shared = t.b_shared();
  p.b_run_batches = p.b_shared ? p.batches : 1;
  p.a_bytes = operands[0].bytes;
  p.b_bytes = operands[1].bytes;

  PlanList list;
  list.prune = prune;
  std::int64_t last_m = 0;
  for (std::int64_t mt = ceil_div(m1, kMostRows / 16); mt <= m1; ++mt) {
    const std::int64_t m = std::min(ceil_div(m1, mt) * 16, spec.m);
    if (m == last_m) continue;
    last_m = m;
    std::int64_t last_panels = 0;
    for (std::int64_t nt = ceil_div(n1, kMostPanels); nt <= n1; ++nt) {
      const std::int64_t panels = ceil_div(n1, nt);
      if (panels == last_panels) continue;
      last_panels = panels;
      for (const int l0c : {2, 1}) {
        CubePlan plan;
        plan.tile = {static_cast<int>(m), static_cast<int>(panels), 0};
        plan.l0c_buffers = l0c;
        plan.tile.k_slice = static_cast<int>(
            std::min<std::int64_t>(max_k_slice(plan.tile.m, plan.tile.panels, e, l0c, chip), k1));
        if (plan.tile.k_slice < 1) continue;
        const std::int64_t width = panels * 16;
        plan.ub_rows = m;
        while (plan.ub_rows > 1 && ub_bytes(epilogue, plan.ub_rows, width, spec.n) > chip.ub)
          plan.ub_rows = (plan.ub_rows + 1) / 2;
        if (ub_bytes(epilogue, plan.ub_rows, width, spec.n) > chip.ub) continue;
        const TileOperands o = tile_operands(spec, m, panels, lanes, e, chip);
        add_l1_plans(p, plan, o, ceil_div(spec.m, m), ceil_div(n1, panels), chip, list);
      }
    }
  }
  return std::move(list.plans);
}

std::vector<std::int64_t> matmul_params(MatMulTiling t) {
  ParamWriter w;
  io_tiling(w, t);
  return w.take();
}

Task pack_matmul(const MatMulTiling& tiling, std::vector<Operand> operands, const soc::Chip& chip) {
  MatMulTiling t = tiling;
  return pack_task(kName, std::move(operands), t.tiles(), chip.cube_blocks(),
                   [&](auto& ar) { io_tiling(ar, t); });
}

Status unpack_matmul(const Task& task, MatMulTiling& t) {
  ATC_TRY(unpack_params(kName, task, [&](auto& ar) { io_tiling(ar, t); }));
  if (task.operands.size() != t.spec.epilogue_operands.size() + 2) return bad_params(kName, "operand count");
  ATC_TRY(check_cube_operands(task, t.spec.epilogue, kName));
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  for (std::int64_t d : {t.spec.m, t.spec.k, t.spec.n, std::int64_t{t.tile.m}, std::int64_t{t.tile.panels},
                         std::int64_t{t.tile.k_slice}, std::int64_t{t.k_chunk}, t.ub_rows})
    if (d < 1 || d > kLimit) return bad_params(kName, "extent out of range");
  if (t.tile.m > 4096 || t.tile.panels > 4096 || t.k_chunk > 1 << 20)
    return bad_params(kName, "tile out of range");
  for (const int n : {t.a_buffers, t.b_buffers, t.l0c_buffers})
    if (n < 1 || n > 4096) return bad_params(kName, "buffers out of range");
  const std::size_t rank = t.spec.batch.size();
  std::int64_t tiles = 1;
  for (std::int64_t d : t.spec.batch) {
    const auto p = checked_mul(tiles, d);
    if (d < 1 || !p) return bad_params(kName, "batch out of range");
    tiles = *p;
  }
  if (!checked_mul(tiles, t.m_tiles() * t.n_tiles())) return bad_params(kName, "too many tiles");
  if (t.spec.a.batch_strides.size() != rank || t.spec.b.batch_strides.size() != rank)
    return bad_params(kName, "batch strides");
  for (const MatrixAddress& a : t.spec.epilogue_operands)
    if (a.batch_strides.size() != rank) return bad_params(kName, "batch strides");
  const bool transposed = t.spec.b_layout == MatMulSpec::BLayout::Transposed;
  bool legal = legal_blocks(t.spec.a, t.spec.a_transposed ? t.spec.m : t.spec.k) &&
               legal_blocks(t.spec.b, transposed ? t.spec.k : t.spec.n);
  if (task.operands[0].dtype == DType::I8 || t.spec.b_layout == MatMulSpec::BLayout::Panels)
    legal = legal && t.spec.b.block_stride == 0;
  if (task.operands[0].dtype == DType::I8) legal = legal && t.spec.a.block_stride == 0;
  for (const MatrixAddress& a : t.spec.epilogue_operands)
    legal = legal && legal_blocks(a, t.spec.n) && (a.block_stride == 0 || a.col_stride == 1);
  if (t.spec.a_transposed && t.spec.a.block_stride != 0)
    legal = legal && (t.tile.m % kBlockCols == 0 || t.tile.m >= t.spec.m);
  if (!legal) return bad_params(kName, "blocks of columns");
  return check_blocks(task, t.tiles());
}

}  // namespace atc::kernels
