#pragma once

#include "kernels/cube_matmul.h"
#include "kernels/cube_search.h"

namespace atc::kernels {

inline constexpr std::string_view kMatMulKernel = "cube_matmul";

struct MatMulTiling {
  MatMulSpec spec;
  CubeTileSize tile;
  std::int64_t k_chunk = 1;  ///< fractals of the reduction in L1 at once
  std::int64_t ub_rows = 1;  ///< rows of the epilogue at once
  int a_buffers = 2, b_buffers = 2, l0c_buffers = 2;
  bool rows_inner = false;  ///< consecutive tiles share columns, else rows

  std::int64_t m_tiles() const { return ceil_div(spec.m, tile.m); }
  std::int64_t n_tiles() const { return ceil_div(spec.n, std::int64_t{tile.panels} * 16); }
  std::int64_t batches() const;
  std::int64_t tiles() const { return batches() * m_tiles() * n_tiles(); }
  /// All batches multiply by the same B.
  bool b_shared() const;

  /// Tile `number`: consecutive ones share rows, or columns (of all batches if B is shared).
  struct Place {
    std::int64_t batch = 0, mt = 0, nt = 0;
  };
  Place decode(std::int64_t number) const;
  /// The tiling that a plan of the search stands for.
  MatMulTiling with(const CubePlan& plan) const;
};

/// The same product with every inner axis of the batch that shares B, and over which rows go on evenly, as
/// more rows: tiles are not cut at its ends.
MatMulSpec with_batch_in_rows(MatMulSpec spec);
/// Reads and checks a task's parameters.
Status unpack_matmul(const Task& task, MatMulTiling& t);
/// The parameters of a task.
std::vector<std::int64_t> matmul_params(MatMulTiling t);
Task pack_matmul(const MatMulTiling& t, std::vector<Operand> operands, const soc::Chip& chip);
StatusOr<TileProgram> matmul_epilogue(const MatMulSpec& spec, const std::vector<Operand>& operands);

std::unique_ptr<PreparedKernel> matmul_kernel(const MatMulTiling& tiling, const TileProgram& epilogue,
                                              DType dtype);

/// Every way to cut the product that fits the chip, with its estimated cycles: all tiles of L0C whose edges
/// differ in the number of tiles, k slices of full size, and for each the ways of add_l1_plans. `prune`: see
/// PlanList.
std::vector<CubePlan> matmul_plans(const MatMulSpec& spec, const TileProgram& epilogue,
                                   const std::vector<Operand>& operands, const soc::Chip& chip,
                                   bool prune = true);

}  // namespace atc::kernels
