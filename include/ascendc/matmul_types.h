#pragma once

// What describes a Matmul object: the operands' types, and the library's ways to compute. The ways differ in
// speed on the hardware; the simulated one has one way.
#include <cstdint>

#include "ascendc/params.h"
#include "ascendc/position.h"

namespace AscendC {

enum class LayoutMode : std::uint8_t { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };
enum class IterateMode : std::uint8_t {
  ITERATE_MODE_NORMAL = 1,
  ITERATE_MODE_ALL = 2,
  ITERATE_MODE_BATCH = 4,
  ITERATE_MODE_N_BATCH = 8,
  ITERATE_MODE_DEFAULT = 15,
};
enum class BatchMode : std::uint8_t { NONE, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1 };
enum class IterateOrder : std::uint8_t { ORDER_M = 0, ORDER_N, UNDEF };
enum class ScheduleType : std::uint8_t { INNER_PRODUCT = 0, OUTER_PRODUCT, N_BUFFER_33 };
enum class MatmulConfigMode : std::uint8_t { CONFIG_NORM, CONFIG_MDL, CONFIG_SPECIALMDL, CONFIG_IBSHARE };

struct MatmulConfig {
  bool doNorm = true, doBasicBlock = false, doMultiDataLoad = false;
  std::uint32_t basicM = 0, basicN = 0, basicK = 0;
  bool intrinsicsCheck = false, isNBatch = false, enVecND2NZ = false, doSpecialBasicBlock = false;
  std::uint32_t doMTE2Preload = 0, singleCoreM = 0, singleCoreN = 0, singleCoreK = 0, stepM = 0, stepN = 0,
                baseMN = 0, singleCoreMN = 0;
  bool enUnitFlag = false, isPerTensor = false, hasAntiQuantOffset = false, doIBShareNorm = false,
       doSpecialMDL = false, enableInit = true;
  BatchMode batchMode = BatchMode::NONE;
  bool enableEnd = true, enableGetTensorC = true, enableSetOrgShape = true, enableSetBias = true,
       enableSetTail = true, enableQuantVector = true, enableSetDefineData = true;
  std::uint8_t iterateMode = 15;
  bool enableReuse = true, enableUBReuse = false, enableL1CacheUB = false, intraBlockPartSum = false;
  IterateOrder iterateOrder = IterateOrder::UNDEF;
  ScheduleType scheduleType = ScheduleType::INNER_PRODUCT;
  bool enableDoubleCache = false, isBiasBatch = true, enableStaticPadZeros = false, isPartialOutput = false,
       enableMixDualMaster = false, isA2B2Shared = false, isEnableChannelSplit = false,
       enableKdimReorderLoad = false;
};
inline constexpr MatmulConfig CFG_NORM{};
inline constexpr MatmulConfig CFG_MDL{};
inline constexpr MatmulConfig CFG_IBSHARE_NORM{};
inline constexpr MatmulConfig MM_CFG_BB{};

// The arguments choose between ways of the same result.
template <class... Options>
constexpr MatmulConfig GetNormalConfig(Options...) {
  return {};
}
template <class... Options>
constexpr MatmulConfig GetMDLConfig(Options...) {
  return {};
}
template <class... Options>
constexpr MatmulConfig GetSpecialMDLConfig(Options...) {
  return {};
}
template <class... Options>
constexpr MatmulConfig GetBasicConfig(Options...) {
  return {};
}
template <class... Options>
constexpr MatmulConfig GetSpecialBasicConfig(Options...) {
  return {};
}
template <class... Options>
constexpr MatmulConfig GetIBShareNormConfig(Options...) {
  return {};
}
template <MatmulConfigMode mode, class... Options>
constexpr MatmulConfig GetMMConfig(const Options&...) {
  return {};
}

/// One operand: where it is, how it is stored, its elements.
template <TPosition position, CubeFormat layout_format, class Element, bool transposed = false,
          LayoutMode batch_layout = LayoutMode::NONE, bool shared = false>
struct MatmulType {
  using T = Element;
  static constexpr TPosition pos = position;
  static constexpr CubeFormat format = layout_format;
  static constexpr bool isTrans = transposed;
  static constexpr LayoutMode layout = batch_layout;
  static constexpr bool ibShare = shared;
};

/// Functions of the user's for the copies: none is taken.
template <auto copy_out = nullptr, auto copy_a = nullptr, auto copy_b = nullptr>
struct MatmulCallBackFunc {
  static_assert(std::is_null_pointer_v<decltype(copy_out)> && std::is_null_pointer_v<decltype(copy_a)> &&
                    std::is_null_pointer_v<decltype(copy_b)>,
                "Matmul with callback functions for its copies is not simulated");
};

}  // namespace AscendC
