#pragma once

// Keywords of the device language, which a host compiler does not know, and the macros of a kernel file.
#include <cstdint>

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#ifndef __CCE_AICORE__
#if __NPU_ARCH__ == 1001
#define __CCE_AICORE__ 100
#elif __NPU_ARCH__ == 2002
#define __CCE_AICORE__ 200
#elif __NPU_ARCH__ == 3002
#define __CCE_AICORE__ 300
#else
#define __CCE_AICORE__ 220
#endif
#endif
#if __NPU_ARCH__ >= 3500
#error \
    "the register-level instruction set of this __NPU_ARCH__ is not simulated; 1001, 2002, 2201 and 3002 are"
#endif

// What is defined here is empty, so overloads that differ by an address space alone collide.
#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#define __ssbuf__
#define __sync_noalias__
#define __sync_alias__
#define __check_sync_alias__
#define __vector__
#define __cube__
#define __mix__(cube, vector)
#define __inout_pipe__(pipe)
#define __in_pipe__(pipe)
#define __out_pipe__(pipe)
#define __schedmode__(mode)
#define __WORKGROUP__ extern
#ifndef K_MAX_SHAPE_DIM
#define K_MAX_SHAPE_DIM 8
#endif

// Register-level code of newer chips: the message names it.
#define __VEC_SCOPE__ \
  static_assert(false, "__VEC_SCOPE__: register-level vector code (Reg, MicroAPI) is not simulated");
#define __simt_vf__ _Pragma("GCC error \"__simt_vf__: SIMT code is not simulated\"")
#define __simd_vf__ _Pragma("GCC error \"__simd_vf__: register-level vector code is not simulated\"")
#define __simd_callee__ _Pragma("GCC error \"__simd_callee__: register-level vector code is not simulated\"")

typedef std::uint8_t* GM_ADDR;

enum pipe_t : int {
  PIPE_S = 0,
  PIPE_V = 1,
  PIPE_M = 2,
  PIPE_MTE1 = 3,
  PIPE_MTE2 = 4,
  PIPE_MTE3 = 5,
  PIPE_ALL = 6,
  PIPE_MTE4 = 7,
  PIPE_MTE5 = 8,
  PIPE_V2 = 9,
  PIPE_FIX = 10,
};
enum event_t : int { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };

// dtypes as ORIG_DTYPE_<NAME> has them.
#ifndef ATC_ASCENDC_HOST_TYPES
#define DT_FLOAT 0
#define DT_FLOAT16 1
#define DT_INT8 2
#define DT_INT32 3
#define DT_UINT8 4
#define DT_INT16 6
#define DT_UINT16 7
#define DT_UINT32 8
#define DT_INT64 9
#define DT_UINT64 10
#define DT_DOUBLE 11
#define DT_BOOL 12
#define DT_BF16 27
#define DT_INT4 29
#endif

// Tiling. REGISTER_TILING_DEFAULT, or the header that is generated from BEGIN_TILING_DATA_DEF, names the
// structure.
#define REGISTER_TILING_DEFAULT(Type) using AscendCDefaultTiling [[maybe_unused]] = Type
#define REGISTER_TILING_FOR_TILINGKEY(expression, Type) static_assert(sizeof(Type) > 0)
#define COPY_TILING_WITH_STRUCT(Type, source, target) \
  ::AscendC::detail::load_tiling(target, sizeof(Type), reinterpret_cast<const void*>(source))
#define GET_TILING_DATA_WITH_STRUCT(Type, name, address) \
  Type name;                                             \
  ::AscendC::detail::load_tiling(&name, sizeof(Type), reinterpret_cast<const void*>(address))
#ifndef GET_TILING_DATA
#define GET_TILING_DATA(name, address) GET_TILING_DATA_WITH_STRUCT(AscendCDefaultTiling, name, address)
#endif
#define GET_TILING_DATA_MEMBER(Type, member, name, address) \
  decltype(Type::member) name;                              \
  ::AscendC::detail::load_tiling(&name, sizeof(name),       \
                                 reinterpret_cast<const std::uint8_t*>(address) + offsetof(Type, member))
#define GET_TILING_DATA_PTR_WITH_STRUCT(Type, name, address) \
  const Type* name = reinterpret_cast<const Type*>(address)
#define TILING_KEY_IS(key) (::AscendC::detail::tiling_key() == static_cast<std::uint64_t>(key))
#define TILING_KEY_VAR ::AscendC::detail::tiling_key()

#define KERNEL_TASK_TYPE_DEFAULT(type) ::AscendC::detail::declare_type(::AscendC::type)
#define KERNEL_TASK_TYPE(key, type) \
  ::AscendC::detail::declare_type_of_key(static_cast<std::uint64_t>(key), ::AscendC::type)

// Which unit runs: both hold on chips with one kind of core.
#define ASCEND_IS_AIC (::AscendC::detail::is_cube())
#define ASCEND_IS_AIV (::AscendC::detail::is_vector())
#define ASCEND_IS_NOT_AIC (!::AscendC::detail::is_cube())
#define ASCEND_IS_NOT_AIV (!::AscendC::detail::is_vector())
