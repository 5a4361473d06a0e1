#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/dtype.h"
#include "atc/base/status.h"

namespace atc::aicore {
class Core;
struct Gm;
}  // namespace atc::aicore
namespace atc::soc {
struct Chip;
}

namespace atc::kernels {

/// What a task reads or writes: a byte range of a tensor of the plan. Kernels index operands by
/// position and address them in elements of `dtype` from `offset`.
struct Operand {
  int tensor = -1;          ///< index into the plan's tensor table
  std::int64_t offset = 0;  ///< bytes from the start of the tensor
  std::int64_t bytes = 0;   ///< extent; every access is checked against it
  DType dtype = DType::Undefined;
  bool output = false;  ///< written by the task (may be read too)
};

/// One launch of one kernel template on some cores ("blocks").
struct Task {
  std::string kernel;  ///< name of the template: "vector_program", "cube_conv", ...
  std::vector<Operand> operands;
  std::vector<std::int64_t> params;  ///< the template's packed tiling structure
  /// Block b runs tiles [block_tiles[b], block_tiles[b+1]); size = blocks + 1. Tiles are numbered by
  /// the template.
  std::vector<std::int64_t> block_tiles;
  std::int64_t macs = 0;  ///< multiply-accumulates of the operator, for reports
  int blocks() const { return static_cast<int>(block_tiles.size()) - 1; }
};

/// Splits `tiles` over at most `max_blocks` blocks, as evenly as possible.
std::vector<std::int64_t> split_tiles(std::int64_t tiles, int max_blocks);

/// A task's parameters, unpacked and checked, ready to run any of its blocks. Immutable: blocks run
/// on several threads at once.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  /// Runs the tiles [first, last) on `core`, whose buffers it allocates afresh. Throws InternalError
  /// when a buffer overflows or an access leaves its operand.
  virtual void run(aicore::Core& core, std::span<const aicore::Gm> operands, std::int64_t first,
                   std::int64_t last) const = 0;
  /// Tiles with equal keys take equal cycles (tile shape class); used to memoise dry runs.
  virtual std::int64_t tile_key(std::int64_t tile) const = 0;
};

/// A figure of a tiling, for reports: ("m", 128), ("a_buffers", 2).
struct TilingField {
  std::string_view name;
  std::int64_t value = 0;
};

/// One kernel template.
struct KernelDef {
  std::string_view name;
  bool cube = false;  ///< occupies cube cores; else vector cores
  /// Status E10041-style when params do not describe a legal task for these operands.
  StatusOr<std::unique_ptr<PreparedKernel>> (*prepare)(const Task& task, const soc::Chip& chip);
  /// The size of its tiles and its buffers, where there is more to say than their number. Precondition:
  /// prepare takes the task.
  std::vector<TilingField> (*describe)(const Task& task) = nullptr;
};

/// Sorted by name; null when unknown.
const KernelDef* find_kernel(std::string_view name);
std::span<const KernelDef> all_kernels();

/// Packs and unpacks tiling structures as flat int64 lists: `Archive` calls `io(field)` in order.
class ParamWriter {
 public:
  void io(std::int64_t v) { out_.push_back(v); }
  void io(int v) { out_.push_back(v); }
  void io(bool v) { out_.push_back(v ? 1 : 0); }
  void io(DType v) { out_.push_back(static_cast<std::int64_t>(v)); }
  void io(double v);
  void io(const std::vector<std::int64_t>& v) {
    out_.push_back(static_cast<std::int64_t>(v.size()));
    out_.insert(out_.end(), v.begin(), v.end());
  }
  std::vector<std::int64_t> take() { return std::move(out_); }

 private:
  std::vector<std::int64_t> out_;
};
class ParamReader {
 public:
  explicit ParamReader(std::span<const std::int64_t> in) : in_(in) {}
  void io(std::int64_t& v) { v = next(); }
  void io(int& v);   ///< fails beyond int's range
  void io(bool& v);  ///< fails unless 0 or 1
  void io(DType& v);
  void io(double& v);
  void io(std::vector<std::int64_t>& v);  ///< the count is checked against what is left
  /// True when everything was read, nothing is left, and no field failed.
  bool done() const { return ok_ && at_ == in_.size(); }
  bool ok() const { return ok_; }
  void fail() { ok_ = false; }

 private:
  std::int64_t next();
  std::span<const std::int64_t> in_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace atc::kernels
