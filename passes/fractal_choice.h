#pragma once

#include <set>

#include "atc/ir/graph.h"
#include "soc/chip.h"

namespace atc::passes {

/// Which activations of a graph are kept in FRACTAL_NZ on `chip`: those that cost less there than row-major,
/// for the node that makes them and all that read them together.
///
/// The kernels of matrix products (A, B, what the epilogue reads and stores), attentions (Q, K, V, the
/// result) and vector programs take and give either format, operand by operand, so a value's format costs
/// each of these nodes something of its own and no conversion is ever needed: the sum over the graph is least
/// when it is least for each value. Costs are the cycles of the moves between Global Memory and a core
/// (burst_cycles and matrix_stretches of aicore/burst_cost.h, MODEL.md), over the cores that share them:
///
///     row-major   to L1: Nd2Nz, a stretch a row; without Nd2Nz a burst for each 16 columns of each row
///                 to and from UB: a stretch a row of the tile, one for whole rows
///     FRACTAL_NZ  anywhere: for each 16 columns one stretch of the tile's rows (turned in UB by the Cast)
///
/// and, for a product whose batches share B, what the cube works on rows that pad each matrix of a batch:
/// rows of batches do not follow each other in FRACTAL_NZ. Equal costs, and savings of less than a quarter of
/// these moves, leave ND: the tilings that are chosen later decide how much of them comes true.
///
/// Not asked: inputs and outputs of the model, constants, values that any other node reads, 8-bit and 32-bit
/// types, columns that are not whole blocks of 16 or one block alone, rows of which padding would make more
/// than nine eighths (memory), what a program reads in part, by views or row by row as a table, programs
/// beside NC1HWC0 or with reductions along other axes than one of the last two, heads that are not whole
/// blocks, masks and biases of attentions.
std::set<const ir::Value*> fractal_values(const ir::Graph& graph, const soc::Chip& chip);

}  // namespace atc::passes
