#pragma once

#include <vector>

#include "kernels/task.h"
#include "kernels/vector_program.h"

namespace atc::kernels {

/// Where the rows of one head lie in an operand, in elements; the elements of a row are neighbours.
struct HeadAddress {
  std::int64_t offset = 0;
  std::int64_t batch_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t row_stride = 0;
  /// In FRACTAL_NZ: elements from one block of 16 elements of a row to the next; row_stride is then 16, and a
  /// head's rows are whole blocks. 0: row-major.
  std::int64_t block_stride = 0;
};

/// Neighbouring key positions with their values: a cache's past, then what the step adds.
struct KvSegment {
  std::int64_t length = 0;
  HeadAddress k, v;  ///< head_stride steps from one key head to the next
};

/// What is added to a score, or which scores count.
struct AttentionMask {
  enum class Kind : std::uint8_t {
    None,
    Add,   ///< f32, f16 or bf16, added to the score
    Keep,  ///< bool; where it is false the score becomes `fill`
    Drop,  ///< bool; where it is true the score becomes `fill`
  };
  Kind kind = Kind::None;
  std::int64_t offset = 0;
  std::int64_t batch_stride = 0, head_stride = 0, row_stride = 0;
  std::int64_t col_stride = 0;  ///< 1, or 0 to broadcast
  double fill = 0;
};

/// O[b,h,i,:] = sum_j softmax_j(f(scale * Q[b,h,i,:] . K[b,g,j,:])) V[b,g,j,:], key head g = h / (heads /
/// kv_heads); f is the soft cap, the mask and the bias. Tile by tile with a running maximum and sum in f32
/// (online softmax, as FlashAttention does it): scores never reach Global Memory. Operands: Q, O, the mask
/// when there is one, the bias when there is one, then K and V of each segment.
struct AttentionSpec {
  std::int64_t batch = 1, heads = 1, kv_heads = 1;
  std::int64_t rows = 1;       ///< query positions
  std::int64_t d = 1, dv = 1;  ///< elements of a row of Q and K; of V and O
  bool k_transposed = false;   ///< K is stored [d][position]: its row_stride steps along d
  double scale = 1;
  double softcap = 0;   ///< c > 0: the scaled score s becomes c * tanh(s / c), before the mask
  bool causal = false;  ///< row i sees positions j <= i + causal_offset
  std::int64_t causal_offset = 0;
  bool hidden_rows_are_zero = false;  ///< a row that sees nothing gives 0, not the nan of 0 / 0
  HeadAddress q, out;
  AttentionMask mask;
  AttentionMask bias;             ///< None or Add: beside a mask that keeps or drops
  bool bias_behind_mask = false;  ///< added to `fill` too, where the mask hides a score
  std::vector<KvSegment> segments;
  std::int64_t positions() const;  ///< key positions of all segments
};

/// Q, K and V are of one dtype: f32, f16 or bf16; O as well.
StatusOr<Task> make_attention_task(const AttentionSpec& spec, std::vector<Operand> operands,
                                   const soc::Chip& chip);

/// True when some tile of such heads fits the chip.
bool attention_fits(const AttentionSpec& spec, DType dtype, const soc::Chip& chip);

}  // namespace atc::kernels
