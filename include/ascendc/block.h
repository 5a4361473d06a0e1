#pragma once

// The block that runs and the table of instructions; what a kernel asks of its launch.
#include <cstddef>
#include <cstdint>

#include "ascendc/macros.h"
#include "atc/core_api.h"

namespace AscendC {

enum KernelMetaType : int {
  KERNEL_TYPE_AIV_ONLY,
  KERNEL_TYPE_AIC_ONLY,
  KERNEL_TYPE_MIX_AIV_1_0,
  KERNEL_TYPE_MIX_AIC_1_0,
  KERNEL_TYPE_MIX_AIC_1_1,
  KERNEL_TYPE_MIX_AIC_1_2,
  KERNEL_TYPE_AICORE,
  KERNEL_TYPE_VECTORCORE,
  KERNEL_TYPE_MIX_AICORE,
  KERNEL_TYPE_MIX_VECTOR_CORE,
  KERNEL_TYPE_MAX,
};

namespace detail {

/// The place of a call, as its default argument has it.
struct Site : AtcSite {
  explicit constexpr Site(const char* file_name = __builtin_FILE(), int line_number = __builtin_LINE())
      : AtcSite{file_name, line_number} {}
};

struct Context {
  AtcBlock* block;
  const AtcCoreApi* api;
};
inline thread_local Context context_of_thread{nullptr, nullptr};

/// Never inlined, and the compiler must not keep its result: a block may go on upon another thread.
[[gnu::noinline]] inline Context& context() {
  asm volatile("" ::: "memory");
  return context_of_thread;
}
inline AtcBlock* block() { return context().block; }

/// Calls an instruction of the table.
template <class Function, class... Arguments>
inline auto call(Function AtcCoreApi::*function, Arguments... arguments) {
  const Context& c = context();
  return (c.api->*function)(c.block, arguments...);
}
/// Calls one after which the block may be upon another thread.
template <class Function, class... Arguments>
inline void call_and_switch(Function AtcCoreApi::*function, Arguments... arguments) {
  const Context before = context();
  (before.api->*function)(before.block, arguments...);
  context() = before;
}

/// The entry of a block: the library's glue calls it before the kernel.
inline void enter(AtcBlock* block, const AtcCoreApi* api) { context() = {block, api}; }
/// And behind it: the thread is in no kernel.
inline void leave() { context() = {nullptr, nullptr}; }

inline bool is_cube() { return block()->is_cube != 0; }
inline bool is_vector() { return block()->is_vector != 0; }
inline std::uint64_t tiling_key() { return block()->tiling_key; }

inline void declare_type(KernelMetaType type, Site site = Site()) {
  call(&AtcCoreApi::declare_type, &site, static_cast<std::int32_t>(type));
}
inline void declare_type_of_key(std::uint64_t key, KernelMetaType type, Site site = Site()) {
  if (tiling_key() == key) declare_type(type, site);
}

/// Reads a tiling structure from Global Memory with the scalar unit.
inline void load_tiling(void* to, std::size_t bytes, const void* from, Site site = Site()) {
  const Context& c = context();
  const AtcGm gm{const_cast<void*>(from), -1, -1};
  auto* out = static_cast<unsigned char*>(to);
  for (std::size_t at = 0; at < bytes;) {
    const std::uint32_t step = bytes - at >= 8 ? 8 : 1;
    const std::uint64_t bits = c.api->load_global(c.block, &site, &gm, at, step);
    __builtin_memcpy(out + at, &bits, step);
    at += step;
  }
}

}  // namespace detail

inline std::int64_t GetBlockIdx() { return detail::block()->block_idx; }
inline std::int64_t GetBlockNum() { return detail::block()->block_num; }
inline std::int64_t GetSubBlockIdx() { return detail::block()->sub_block_idx; }
inline std::int64_t GetSubBlockNum() { return detail::block()->sub_block_num; }
inline std::int64_t GetTaskRation() { return detail::block()->task_ratio; }
inline std::int64_t GetTaskRatio() { return detail::block()->task_ratio; }
inline std::int64_t GetSystemCycle() { return detail::call(&AtcCoreApi::cycle); }

/// The library's part of the workspace comes first; the kernel's own follows it.
inline GM_ADDR GetSysWorkSpacePtr() { return static_cast<GM_ADDR>(detail::block()->system_workspace); }
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
  const AtcBlock* b = detail::block();
  return workspace == b->system_workspace ? workspace + b->system_workspace_bytes : workspace;
}
inline void SetSysWorkspace(GM_ADDR workspace) {
  if (detail::block()->system_workspace == nullptr) detail::block()->system_workspace = workspace;
}
inline void SetSysWorkspaceForce(GM_ADDR workspace) { detail::block()->system_workspace = workspace; }

/// Bytes of the Unified Buffer that kernels have.
inline std::uint32_t GetUBSizeInBytes() { return detail::block()->memory_bytes[ATC_UB]; }
inline std::uint32_t GetRuntimeUBSize() { return GetUBSizeInBytes(); }
constexpr std::uint32_t AlignUp(std::uint32_t n, std::uint32_t to) { return (n + to - 1) / to * to; }
constexpr std::int32_t CeilDivision(std::int32_t n, std::int32_t by) { return (n + by - 1) / by; }
/// Overlap of kernels that follow each other: one after the other here.
inline void SetNextTaskStart() {}
inline void WaitPreTaskEnd() {}

enum AscendCoreType : int { AIC = 1, AIV = 2 };

namespace detail {
struct CoreKind {
  friend bool operator==(CoreKind, int kind) { return kind == AIC ? is_cube() : is_vector(); }
  friend bool operator!=(CoreKind a, int kind) { return !(a == kind); }
};
struct BlockIndex {
  operator std::int64_t() const { return GetBlockIdx(); }
};
}  // namespace detail

}  // namespace AscendC

inline constexpr AscendC::detail::CoreKind g_coreType{};
inline constexpr AscendC::detail::BlockIndex block_idx{};
inline std::int64_t get_block_idx() { return AscendC::GetBlockIdx(); }
inline std::int64_t get_block_num() { return AscendC::GetBlockNum(); }
inline std::int64_t get_subblockid() { return AscendC::GetSubBlockIdx(); }
inline std::int64_t get_subblockdim() { return AscendC::GetSubBlockNum(); }
