#pragma once

#include <memory>

#include "kernels/task.h"

namespace atc::kernels {

using PrepareResult = StatusOr<std::unique_ptr<PreparedKernel>>;

/// "Task parameters are not legal: ..." (E10041): what every prepare function answers to a bad plan.
Status bad_params(std::string_view kernel, std::string_view reason);

PrepareResult prepare_attention(const Task& task, const soc::Chip& chip);
PrepareResult prepare_cube_conv(const Task& task, const soc::Chip& chip);
PrepareResult prepare_cube_matmul(const Task& task, const soc::Chip& chip);
PrepareResult prepare_gather(const Task& task, const soc::Chip& chip);
PrepareResult prepare_interpolate(const Task& task, const soc::Chip& chip);
PrepareResult prepare_recurrent(const Task& task, const soc::Chip& chip);
PrepareResult prepare_scan(const Task& task, const soc::Chip& chip);
PrepareResult prepare_scatter(const Task& task, const soc::Chip& chip);
PrepareResult prepare_strided_copy(const Task& task, const soc::Chip& chip);
PrepareResult prepare_top_k(const Task& task, const soc::Chip& chip);
PrepareResult prepare_vector_program(const Task& task, const soc::Chip& chip);
PrepareResult prepare_window(const Task& task, const soc::Chip& chip);

std::vector<TilingField> describe_attention(const Task& task);
std::vector<TilingField> describe_cube_conv(const Task& task);
std::vector<TilingField> describe_cube_matmul(const Task& task);
std::vector<TilingField> describe_recurrent(const Task& task);
std::vector<TilingField> describe_strided_copy(const Task& task);
std::vector<TilingField> describe_vector_program(const Task& task);
std::vector<TilingField> describe_window(const Task& task);

}  // namespace atc::kernels
