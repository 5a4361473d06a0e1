#pragma once

// The cube unit: L1 to L0A and L0B, products, and the way out.
#include <cstdint>

#include "ascendc/data_copy.h"
#include "ascendc/vector.h"

namespace AscendC {

/// Fractals of 512 bytes; startIndex and srcStride in fractals, dstGap from the end of one to the next.
struct LoadData2DParams {
  constexpr LoadData2DParams() = default;
  constexpr LoadData2DParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src_stride,
                             std::uint8_t id, std::uint16_t dst_gap, bool transpose, std::uint8_t mode)
      : startIndex(start),
        dstGap(dst_gap),
        srcStride(src_stride),
        ifTranspose(transpose),
        repeatTimes(repeat),
        sid(id),
        addrMode(mode) {}
  std::uint16_t startIndex = 0, dstGap = 0, srcStride = 0;
  bool ifTranspose = false;
  std::uint8_t repeatTimes = 0, sid = 0, addrMode = 0;
};
using LoadData2dParams = LoadData2DParams;
struct LoadData2dTransposeParams {
  constexpr LoadData2dTransposeParams() = default;
  constexpr LoadData2dTransposeParams(std::uint16_t start, std::uint8_t repeat, std::uint16_t src_stride,
                                      std::uint16_t dst_gap, std::uint16_t fractal_gap, std::uint8_t mode = 0)
      : startIndex(start),
        repeatTimes(repeat),
        srcStride(src_stride),
        dstGap(dst_gap),
        dstFracGap(fractal_gap),
        addrMode(mode) {}
  std::uint16_t startIndex = 0;
  std::uint8_t repeatTimes = 0;
  std::uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
  std::uint8_t addrMode = 0;
};
template <class T>
struct LoadData3DParamsV2 {
  constexpr LoadData3DParamsV2() = default;
  std::uint8_t padList[4] = {0, 0, 0, 0};  ///< left, right, top, bottom
  std::uint16_t l1H = 0, l1W = 0, channelSize = 0;
  std::uint16_t kExtension = 0, mExtension = 0, kStartPt = 0, mStartPt = 0;
  std::uint8_t strideW = 1, strideH = 1, filterW = 1, filterH = 1, dilationFilterW = 1, dilationFilterH = 1;
  bool enTranspose = false, enSmallK = false;
  T padValue{};
  bool filterSizeW = false, filterSizeH = false, fMatrixCtrl = false;
};
template <class T>
struct InitConstValueParams {
  constexpr InitConstValueParams() = default;
  constexpr InitConstValueParams(std::uint16_t repeat, std::uint16_t blocks, std::uint16_t gap, T value)
      : repeatTimes(repeat), blockNum(blocks), dstGap(gap), initValue(value) {}
  std::uint16_t repeatTimes = 0, blockNum = 0, dstGap = 0;
  T initValue{};
};
struct MmadParams {
  constexpr MmadParams() = default;
  constexpr MmadParams(std::uint16_t rows, std::uint16_t cols, std::uint16_t depth, std::uint8_t unit,
                       bool source, bool init)
      : m(rows), n(cols), k(depth), unitFlag(unit), cmatrixSource(source), cmatrixInitVal(init) {}
  constexpr MmadParams(std::uint16_t rows, std::uint16_t cols, std::uint16_t depth, bool bias,
                       std::int32_t offset = 0, bool sparse = false, bool ssbuf = false, bool a16a8 = false,
                       bool w8 = false)
      : m(rows),
        n(cols),
        k(depth),
        isBias(bias),
        fmOffset(offset),
        enSsparse(sparse),
        enWinogradA(ssbuf),
        enWinogradB(a16a8 || w8) {}
  std::uint16_t m = 0, n = 0, k = 0;
  bool isBias = false;  ///< accumulates; replaced by cmatrixInitVal
  std::int32_t fmOffset = 0;
  bool enSsparse = false, enWinogradA = false, enWinogradB = false;
  std::uint8_t unitFlag = 0;
  bool kDirectionAlign = false;
  bool cmatrixSource = false;  ///< begins with the bias table
  bool cmatrixInitVal = true;  ///< begins with zero
};

enum QuantMode_t : std::uint8_t {
  NoQuant,
  F322F16,
  F322BF16,
  DEQF16,
  VDEQF16,
  QF322B8_PRE,
  VQF322B8_PRE,
  REQ8,
  VREQ8,
};
enum class CO2Layout : std::uint8_t { NZ = 0, ROW_MAJOR = 1 };
struct FixpipeConfig {
  CO2Layout format;
};
inline constexpr FixpipeConfig CFG_NZ{CO2Layout::NZ};
inline constexpr FixpipeConfig CFG_ROW_MAJOR{CO2Layout::ROW_MAJOR};

/// srcStride in rows of 16 elements; dstStride in elements (row major) or data blocks (NZ).
struct FixpipeParamsV220 {
  constexpr FixpipeParamsV220() = default;
  constexpr FixpipeParamsV220(std::uint16_t n, std::uint16_t m, std::uint16_t src, std::uint32_t dst,
                              bool relu)
      : nSize(n), mSize(m), srcStride(src), dstStride(dst), reluEn(relu) {}
  constexpr FixpipeParamsV220(std::uint16_t n, std::uint16_t m, std::uint16_t src, std::uint32_t dst,
                              bool relu, QuantMode_t quant, std::uint64_t scale, std::uint16_t matrices,
                              std::uint16_t src_matrix, std::uint16_t dst_matrix, std::uint8_t unit)
      : nSize(n),
        mSize(m),
        srcStride(src),
        dstStride(dst),
        quantPre(quant),
        deqScalar(scale),
        ndNum(matrices),
        srcNdStride(src_matrix),
        dstNdStride(dst_matrix),
        reluEn(relu),
        unitFlag(unit) {}
  std::uint16_t nSize = 0, mSize = 0, srcStride = 0;
  std::uint32_t dstStride = 0;
  QuantMode_t quantPre = NoQuant;
  std::uint64_t deqScalar = 0;
  std::uint16_t ndNum = 1, srcNdStride = 0, dstNdStride = 0;
  bool reluEn = false;
  std::uint8_t unitFlag = 0;
  bool isChannelSplit = false;
};

namespace detail {
template <class T>
AtcLoad2d load2d_of(const LocalTensor<T>& dst, const LoadData2DParams& p) {
  AtcLoad2d l{};
  l.dst = dst.place();
  l.type = type_code_v<T>;
  l.transpose = p.ifTranspose;
  l.address_down = p.addrMode;
  l.start = p.startIndex;
  l.repeat = p.repeatTimes;
  l.src_stride = p.srcStride;
  l.dst_gap = p.dstGap;
  return l;
}
}  // namespace detail

template <class T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& p,
              detail::Site site = detail::Site()) {
  AtcLoad2d l = detail::load2d_of(dst, p);
  l.src = src.place();
  detail::call(&AtcCoreApi::load2d, &site, &l);
}
template <class T>
void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& p,
              detail::Site site = detail::Site()) {
  AtcLoad2d l = detail::load2d_of(dst, p);
  l.src_gm = src.place();
  detail::call(&AtcCoreApi::load2d, &site, &l);
}
/// Square blocks of 16 x 16 (b16), 32 x 32 (b8), 16 x 16 of 32 bits are turned.
template <class T>
void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LoadData2dTransposeParams& p, detail::Site site = detail::Site()) {
  AtcLoad2d l{};
  l.dst = dst.place();
  l.src = src.place();
  l.type = detail::type_code_v<T>;
  l.transpose = 1;
  l.square = 1;
  l.address_down = p.addrMode;
  l.start = p.startIndex;
  l.repeat = p.repeatTimes;
  l.src_stride = p.srcStride;
  l.dst_gap = p.dstGap;
  l.dst_fractal_gap = p.dstFracGap;
  detail::call(&AtcCoreApi::load2d, &site, &l);
}
/// Columns of a convolution's input (im2col): rows are output pixels.
template <class T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2<T>& p,
              detail::Site site = detail::Site()) {
  AtcLoad3d l{};
  l.dst = dst.place();
  l.src = src.place();
  l.type = detail::type_code_v<T>;
  l.transpose = p.enTranspose;
  l.small_k = p.enSmallK;
  for (int i = 0; i < 4; ++i) l.pad[i] = p.padList[i];
  l.height = p.l1H;
  l.width = p.l1W;
  l.channels = p.channelSize;
  l.k_extent = p.kExtension;
  l.m_extent = p.mExtension;
  l.k_start = p.kStartPt;
  l.m_start = p.mStartPt;
  l.stride_w = p.strideW;
  l.stride_h = p.strideH;
  l.filter_w = static_cast<std::uint16_t>(p.filterW + (p.filterSizeW ? 256 : 0));
  l.filter_h = static_cast<std::uint16_t>(p.filterH + (p.filterSizeH ? 256 : 0));
  l.dilation_w = p.dilationFilterW;
  l.dilation_h = p.dilationFilterH;
  l.pad_bits = detail::bits_of(p.padValue);
  detail::call(&AtcCoreApi::load3d, &site, &l);
}
template <class T>
void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<T>& p,
                    detail::Site site = detail::Site()) {
  const AtcInitConst c{dst.place(), detail::type_code_v<T>,      p.repeatTimes, p.blockNum,
                       p.dstGap,    detail::bits_of(p.initValue)};
  detail::call(&AtcCoreApi::init_const, &site, &c);
}

namespace detail {
// One a core: in the block, so that it goes with it.
inline void set_hf32(std::int32_t which, bool value, const Site& site) {
  auto& kept = reinterpret_cast<std::uintptr_t&>(block()->user[1]);
  kept = value ? kept | std::uintptr_t{1} << which : kept & ~(std::uintptr_t{1} << which);
  call(&AtcCoreApi::set_hf32, &site,
       std::int32_t{(kept & 1) == 0   ? ATC_HF32_OFF
                    : (kept & 2) != 0 ? ATC_HF32_TOWARD_ZERO
                                      : ATC_HF32_NEAREST});
}
}  // namespace detail
/// Float operands of Mmad keep 11 digits of mantissa, at twice the rate.
inline void SetHF32Mode(bool on, detail::Site site = detail::Site()) { detail::set_hf32(0, on, site); }
/// They round toward zero, else to nearest even.
inline void SetHF32TransMode(bool toward_zero, detail::Site site = detail::Site()) {
  detail::set_hf32(1, toward_zero, site);
}

namespace detail {
template <class D, class A, class B>
AtcMmad product(const LocalTensor<D>& dst, const LocalTensor<A>& a, const LocalTensor<B>& b,
                const MmadParams& p) {
  static_assert(
      (is_one_of<D, float> && std::is_same_v<A, B> && is_one_of<A, half, bfloat16_t, float>) ||
          (is_one_of<D, half> && is_one_of<A, half> && is_one_of<B, half>) ||
          (is_one_of<D, std::int32_t> && std::is_same_v<A, B> && is_one_of<A, std::int8_t, int4b_t>),
      "Mmad multiplies half, bfloat16_t or float to float, half to half, int8_t or int4b_t to int32_t");
  AtcMmad m{};
  m.dst = dst.place();
  m.a = a.place();
  m.b = b.place();
  m.bias = no_operand().local;
  m.dst_type = type_code_v<D>;
  m.a_type = type_code_v<A>;
  m.b_type = type_code_v<B>;
  m.m = p.m;
  m.n = p.n;
  m.k = p.k;
  m.accumulate = p.isBias || !p.cmatrixInitVal;
  m.gemv = p.m == 1;
  m.unit_flag = p.unitFlag;
  return m;
}
}  // namespace detail

template <class D, class A, class B>
void Mmad(const LocalTensor<D>& dst, const LocalTensor<A>& a, const LocalTensor<B>& b, const MmadParams& p,
          detail::Site site = detail::Site()) {
  const AtcMmad m = detail::product(dst, a, b, p);
  detail::call(&AtcCoreApi::mmad, &site, &m);
}
template <class D, class A, class B, class Bias>
void Mmad(const LocalTensor<D>& dst, const LocalTensor<A>& a, const LocalTensor<B>& b,
          const LocalTensor<Bias>& bias, const MmadParams& p, detail::Site site = detail::Site()) {
  AtcMmad m = detail::product(dst, a, b, p);
  if (!m.accumulate || p.cmatrixSource) {
    m.bias = bias.place();
    m.bias_type = detail::type_code_v<Bias>;
    m.accumulate = 0;
  }
  detail::call(&AtcCoreApi::mmad, &site, &m);
}

namespace detail {
template <class D, class S>
AtcFixpipe fixpipe_of(const AtcCopyEnd& dst, const LocalTensor<S>& src, const FixpipeParamsV220& p,
                      FixpipeConfig config) {
  AtcFixpipe f{};
  f.dst = dst;
  f.src = src.place();
  f.dst_type = type_code_v<D>;
  f.src_type = type_code_v<S>;
  f.row_major = config.format == CO2Layout::ROW_MAJOR;
  f.relu = p.reluEn;
  f.unit_flag = p.unitFlag;
  f.channel_split = p.isChannelSplit;
  f.m = p.mSize;
  f.n = p.nSize;
  f.src_stride = p.srcStride;
  f.dst_stride = p.dstStride;
  f.matrices = p.ndNum;
  f.src_matrix_stride = p.srcNdStride;
  f.dst_matrix_stride = p.dstNdStride;
  f.scale = p.deqScalar;
  constexpr AtcQuant kQuant[] = {
      ATC_QUANT_NONE,           ATC_QUANT_F16,   ATC_QUANT_BF16,         ATC_QUANT_DEQ_F16,
      ATC_QUANT_DEQ_F16_VECTOR, ATC_QUANT_F32_8, ATC_QUANT_F32_8_VECTOR, ATC_QUANT_REQ_8,
      ATC_QUANT_REQ_8_VECTOR};
  f.quant = static_cast<std::uint8_t>(kQuant[p.quantPre]);
  f.scales = no_operand().local;
  return f;
}
}  // namespace detail

template <class D, class S, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<D>& dst, const LocalTensor<S>& src, const FixpipeParamsV220& p,
             detail::Site site = detail::Site()) {
  const AtcFixpipe f = detail::fixpipe_of<D>(detail::end_of(dst), src, p, config);
  detail::call(&AtcCoreApi::fixpipe, &site, &f);
}
template <class D, class S, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const LocalTensor<D>& dst, const LocalTensor<S>& src, const FixpipeParamsV220& p,
             detail::Site site = detail::Site()) {
  const AtcFixpipe f = detail::fixpipe_of<D>(detail::end_of(dst), src, p, config);
  detail::call(&AtcCoreApi::fixpipe, &site, &f);
}
/// What Nz2Nd adds to the next copies out of L0C: matrices, and the way from one to the next in fractals of
/// L0C and in elements of Global Memory.
inline void SetFixpipeNz2ndFlag(std::uint16_t ndNum, std::uint16_t srcNdStride, std::uint16_t dstNdStride) {
  detail::block()->user[2] = reinterpret_cast<void*>(
      std::uintptr_t{ndNum} | std::uintptr_t{srcNdStride} << 16 | std::uintptr_t{dstNdStride} << 32);
}
/// L0C to Global Memory, with the stride of a row (nz2ndEn) in elements, else of a column of blocks in
/// blocks.
struct DataCopyCO12DstParams {
  constexpr DataCopyCO12DstParams() = default;
  constexpr DataCopyCO12DstParams(std::uint16_t n, std::uint16_t m, std::uint32_t dst, std::uint16_t src,
                                  QuantMode_t quant, std::uint8_t relu, bool split, bool nd)
      : nSize(n),
        mSize(m),
        dstStride(dst),
        srcStride(src),
        quantPre(quant),
        reluPre(relu),
        channelSplit(split),
        nz2ndEn(nd) {}
  std::uint8_t sid = 0;
  std::uint16_t nSize = 0, mSize = 0;
  std::uint32_t dstStride = 0;
  std::uint16_t srcStride = 0;
  std::uint8_t unitFlag = 0, clipReluPre = 0, eltWiseOp = 0;
  QuantMode_t quantPre = NoQuant;
  std::uint8_t reluPre = 0;
  bool channelSplit = false, nz2ndEn = false;
};
template <class D, class S>
void DataCopy(const GlobalTensor<D>& dst, const LocalTensor<S>& src, const DataCopyCO12DstParams& params,
              detail::Site site = detail::Site()) {
  FixpipeParamsV220 p;
  p.nSize = params.nSize;
  p.mSize = params.mSize;
  p.srcStride = params.srcStride;
  p.dstStride = params.dstStride;
  p.quantPre = params.quantPre;
  p.reluEn = params.reluPre != 0;
  p.unitFlag = params.unitFlag;
  p.isChannelSplit = params.channelSplit;
  const auto flag = reinterpret_cast<std::uintptr_t>(detail::block()->user[2]);
  if (params.nz2ndEn && (flag & 0xffff) != 0) {
    p.ndNum = static_cast<std::uint16_t>(flag);
    p.srcNdStride = static_cast<std::uint16_t>(flag >> 16);
    p.dstNdStride = static_cast<std::uint16_t>(flag >> 32);
  }
  const AtcFixpipe f =
      detail::fixpipe_of<D>(detail::end_of(dst), src, p, params.nz2ndEn ? CFG_ROW_MAJOR : CFG_NZ);
  detail::call(&AtcCoreApi::fixpipe, &site, &f);
}

/// L0C to the Unified Buffer, by the vector unit of chips with one kind of core: blockCount columns of
/// blockLen fractals of 16 x 16, strides in fractals on the L0C side and in data blocks on the other.
struct DataCopyEnhancedParams {
  constexpr DataCopyEnhancedParams() = default;
  BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
  std::uint64_t deqScale = 0, deqValue = 0;
  std::uint8_t sidStoreMode = 0;
  bool isRelu = false;
};
template <class D, class S>
void DataCopy(const LocalTensor<D>& dst, const LocalTensor<S>& src, const DataCopyParams& params,
              const DataCopyEnhancedParams& enhanced, detail::Site site = detail::Site()) {
  if (src.place().memory != ATC_L0C) {
    detail::copy_blocks<D>(detail::end_of(dst), detail::end_of(src), params, site);
    return;
  }
  constexpr std::uint32_t kFractal = 256;
  FixpipeParamsV220 p;
  p.nSize = 16;
  p.mSize = static_cast<std::uint16_t>(params.blockLen * 16);
  p.srcStride = p.mSize;
  p.dstStride = static_cast<std::uint32_t>(p.mSize * 16 * sizeof(D) / 32);
  p.reluEn = enhanced.isRelu;
  if constexpr (detail::is_one_of<S, float> && detail::is_one_of<D, half>) p.quantPre = F322F16;
  for (std::uint32_t i = 0; i < params.blockCount; ++i) {
    const std::uint32_t from = i * (params.blockLen + params.srcStride) * kFractal,
                        to = i * (params.blockLen * kFractal +
                                  static_cast<std::uint32_t>(params.dstStride * 32 / sizeof(D)));
    const AtcFixpipe f = detail::fixpipe_of<D>(detail::end_of(dst[to]), src[from], p, CFG_NZ);
    detail::call(&AtcCoreApi::fixpipe, &site, &f);
  }
}

/// `scales`: one factor a column, 64 bits each.
template <class D, class S, const FixpipeConfig& config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<D>& dst, const LocalTensor<S>& src, const LocalTensor<std::uint64_t>& scales,
             const FixpipeParamsV220& p, detail::Site site = detail::Site()) {
  AtcFixpipe f = detail::fixpipe_of<D>(detail::end_of(dst), src, p, config);
  f.scales = scales.place();
  detail::call(&AtcCoreApi::fixpipe, &site, &f);
}

}  // namespace AscendC
