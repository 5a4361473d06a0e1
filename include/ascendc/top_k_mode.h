#pragma once

// What host code and kernels say alike about TopK.
namespace AscendC {

/// Rows of any length, results in whole data blocks; or rows of 32, results one behind the other.
enum class TopKMode { TOPK_NORMAL, TOPK_NSMALL };

}  // namespace AscendC
