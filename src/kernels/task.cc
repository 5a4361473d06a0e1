#include "kernels/task.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/kernel_list.h"
#include "kernels/program_params.h"

namespace atc::kernels {

std::vector<std::int64_t> split_tiles(std::int64_t tiles, int max_blocks) {
  const std::int64_t blocks = std::clamp<std::int64_t>(tiles, 1, std::max(max_blocks, 1));
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(blocks) + 1);
  const std::int64_t each = tiles / blocks, extra = tiles % blocks;
  for (std::int64_t b = 0; b <= blocks; ++b) out.push_back(b * each + std::min(b, extra));
  return out;
}

Status bad_params(std::string_view kernel, std::string_view reason) {
  return Status::error("E10041", "Failed to load the model: the parameters of a '" + std::string(kernel) +
                                     "' task are not legal: " + std::string(reason));
}

Status check_blocks(const Task& task, std::int64_t tiles) {
  if (task.block_tiles.size() < 2) return bad_params(task.kernel, "no blocks");
  std::int64_t at = 0;
  for (std::int64_t t : task.block_tiles) {
    if (t < at || t > tiles) return bad_params(task.kernel, "block boundaries");
    at = t;
  }
  return {};
}

void ParamWriter::io(double v) { out_.push_back(std::bit_cast<std::int64_t>(v)); }

std::int64_t ParamReader::next() {
  if (at_ >= in_.size()) {
    ok_ = false;
    return 0;
  }
  return in_[at_++];
}

void ParamReader::io(int& v) {
  const std::int64_t x = next();
  if (x < std::numeric_limits<int>::min() || x > std::numeric_limits<int>::max()) ok_ = false;
  v = ok_ ? static_cast<int>(x) : 0;
}

void ParamReader::io(bool& v) {
  const std::int64_t x = next();
  if (x != 0 && x != 1) ok_ = false;
  v = x == 1;
}

void ParamReader::io(DType& v) {
  const std::int64_t x = next();
  if (x < 0 || x >= kDTypeCount) ok_ = false;
  v = ok_ ? static_cast<DType>(x) : DType::Undefined;
}

void ParamReader::io(double& v) { v = std::bit_cast<double>(next()); }

void ParamReader::io(std::vector<std::int64_t>& v) {
  const std::int64_t n = next();
  if (n < 0 || static_cast<std::uint64_t>(n) > in_.size() - at_) {
    ok_ = false;
    v.clear();
    return;
  }
  v.assign(in_.begin() + static_cast<std::ptrdiff_t>(at_),
           in_.begin() + static_cast<std::ptrdiff_t>(at_) + n);
  at_ += static_cast<std::size_t>(n);
}

}  // namespace atc::kernels
