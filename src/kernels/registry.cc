#include <array>

#include "kernels/kernel_list.h"
#include "kernels/task.h"

namespace atc::kernels {
namespace {

// Sorted by name.
constexpr std::array kKernels = {
    KernelDef{"attention", true, prepare_attention, describe_attention},
    KernelDef{"cube_conv", true, prepare_cube_conv, describe_cube_conv},
    KernelDef{"cube_matmul", true, prepare_cube_matmul, describe_cube_matmul},
    KernelDef{"gather", false, prepare_gather},
    KernelDef{"interpolate", false, prepare_interpolate},
    KernelDef{"recurrent", true, prepare_recurrent, describe_recurrent},
    KernelDef{"scan", false, prepare_scan},
    KernelDef{"scatter", false, prepare_scatter},
    KernelDef{"strided_copy", false, prepare_strided_copy, describe_strided_copy},
    KernelDef{"top_k", false, prepare_top_k},
    KernelDef{"vector_program", false, prepare_vector_program, describe_vector_program},
    KernelDef{"window", false, prepare_window, describe_window},
};

}  // namespace

const KernelDef* find_kernel(std::string_view name) {
  for (const KernelDef& k : kKernels)
    if (k.name == name) return &k;
  return nullptr;
}

std::span<const KernelDef> all_kernels() { return kKernels; }

}  // namespace atc::kernels
