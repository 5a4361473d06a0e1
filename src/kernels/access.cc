#include "kernels/access.h"

#include "atc/base/math.h"

namespace atc::kernels {

bool within(const Operand& operand, std::int64_t element_bytes, std::int64_t offset,
            std::span<const std::int64_t> dims, std::span<const std::int64_t> strides) {
  if (dims.size() != strides.size() || element_bytes < 1) return false;
  std::int64_t low = offset, high = offset;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 1) return false;
    const auto span = checked_mul(dims[d] - 1, strides[d]);
    if (!span) return false;
    std::int64_t& end = *span < 0 ? low : high;
    const auto sum = checked_add(end, *span);
    if (!sum) return false;
    end = *sum;
  }
  return low >= 0 && high < operand.bytes / element_bytes;
}

}  // namespace atc::kernels
