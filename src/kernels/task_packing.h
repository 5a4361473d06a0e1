#pragma once

#include "kernels/kernel_list.h"

namespace atc::kernels {

/// A task of `tiles` tiles over at most `blocks` blocks. `io(archive)` lists the fields of its tiling.
template <class Io>
Task pack_task(std::string_view kernel, std::vector<Operand> operands, std::int64_t tiles, int blocks,
               Io io) {
  Task task;
  task.kernel = kernel;
  task.operands = std::move(operands);
  ParamWriter w;
  io(w);
  task.params = w.take();
  task.block_tiles = split_tiles(tiles, blocks);
  return task;
}

/// Reads the fields that pack_task wrote; E10041-style when there are fewer or more. What they mean is the
/// template's to check.
template <class Io>
Status unpack_params(std::string_view kernel, const Task& task, Io io) {
  ParamReader r(task.params);
  io(r);
  return r.done() ? Status() : bad_params(kernel, "they are incomplete");
}

}  // namespace atc::kernels
