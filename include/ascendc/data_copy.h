#pragma once

// Copies between the memories. DataCopy counts in data blocks of 32 bytes, DataCopyPad in bytes.
#include <cstdint>

#include "ascendc/tensors.h"

namespace AscendC {
namespace detail {

template <class T>
AtcCopyEnd end_of(const LocalTensor<T>& t) {
  return {0, t.place(), {nullptr, -1, -1}};
}
template <class T>
AtcCopyEnd end_of(const GlobalTensor<T>& t) {
  return {1, {}, t.place()};
}

template <class T>
AtcCopy copy_of(const AtcCopyEnd& dst, const AtcCopyEnd& src, AtcCopyForm form) {
  AtcCopy c{};
  c.dst = dst;
  c.src = src;
  c.form = static_cast<std::uint8_t>(form);
  c.type = type_code_v<T>;
  c.block_count = 1;
  return c;
}

template <class T>
void copy_count(const AtcCopyEnd& dst, const AtcCopyEnd& src, std::uint32_t count, const Site& site) {
  AtcCopy c = copy_of<T>(dst, src, ATC_COPY_COUNT);
  c.elements = count;
  c.block_bytes = bytes_of<T>(count);
  call(&AtcCoreApi::copy, &site, &c);
}

template <class T>
void copy_blocks(const AtcCopyEnd& dst, const AtcCopyEnd& src, const DataCopyParams& p, const Site& site) {
  AtcCopy c = copy_of<T>(dst, src, ATC_COPY_BLOCKS);
  c.block_count = p.blockCount;
  c.block_bytes = std::int64_t{p.blockLen} * 32;
  c.src_gap = std::int64_t{p.srcStride} * 32;
  c.dst_gap = std::int64_t{p.dstStride} * 32;
  call(&AtcCoreApi::copy, &site, &c);
}

// Strides are bytes on the side of Global Memory, data blocks on the other.
template <class T, class Params>
AtcCopy padded(const AtcCopyEnd& dst, const AtcCopyEnd& src, const Params& p) {
  AtcCopy c = copy_of<T>(dst, src, ATC_COPY_PAD);
  c.block_count = p.blockCount;
  c.block_bytes = p.blockLen;
  c.src_gap = std::int64_t{p.srcStride} * (src.is_gm ? 1 : 32);
  c.dst_gap = std::int64_t{p.dstStride} * (dst.is_gm ? 1 : 32);
  return c;
}

}  // namespace detail

template <class T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, std::uint32_t count,
              detail::Site site = detail::Site()) {
  detail::copy_count<T>(detail::end_of(dst), detail::end_of(src), count, site);
}
template <class T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
              detail::Site site = detail::Site()) {
  detail::copy_count<T>(detail::end_of(dst), detail::end_of(src), count, site);
}
template <class T>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<T>& src, std::uint32_t count,
              detail::Site site = detail::Site()) {
  detail::copy_count<T>(detail::end_of(dst), detail::end_of(src), count, site);
}
template <class T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
              detail::Site site = detail::Site()) {
  detail::copy_blocks<T>(detail::end_of(dst), detail::end_of(src), params, site);
}
template <class T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
              detail::Site site = detail::Site()) {
  detail::copy_blocks<T>(detail::end_of(dst), detail::end_of(src), params, site);
}
template <class T, class U>
void DataCopy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const DataCopyParams& params,
              detail::Site site = detail::Site()) {
  detail::copy_blocks<T>(detail::end_of(dst), detail::end_of(src), params, site);
}
/// ND in Global Memory to NZ in L1: [cols / C0][rows][C0], columns filled with zeros up to 32 bytes.
template <class T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const Nd2NzParams& params,
              detail::Site site = detail::Site()) {
  AtcNd2Nz c{};
  c.dst = dst.place();
  c.src = src.place();
  c.type = detail::type_code_v<T>;
  c.matrices = params.ndNum;
  c.rows = params.nValue;
  c.cols = params.dValue;
  c.src_matrix_stride = params.srcNdMatrixStride;
  c.src_row_stride = params.srcDValue;
  c.dst_c0_stride = params.dstNzC0Stride;
  c.dst_row_stride = params.dstNzNStride;
  c.dst_matrix_stride = params.dstNzMatrixStride;
  detail::call(&AtcCoreApi::nd2nz, &site, &c);
}

template <class T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyExtParams& params,
                 const DataCopyPadExtParams<T>& pad, detail::Site site = detail::Site()) {
  AtcCopy c = detail::padded<T>(detail::end_of(dst), detail::end_of(src), params);
  c.is_pad = pad.isPad;
  c.left_pad = pad.leftPadding;
  c.right_pad = pad.rightPadding;
  c.pad_bits = detail::bits_of(pad.paddingValue);
  detail::call(&AtcCoreApi::copy, &site, &c);
}
template <class T>
void DataCopyPad(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const DataCopyParams& params,
                 const DataCopyPadParams& pad, detail::Site site = detail::Site()) {
  AtcCopy c = detail::padded<T>(detail::end_of(dst), detail::end_of(src), params);
  c.is_pad = pad.isPad;
  c.left_pad = pad.leftPadding;
  c.right_pad = pad.rightPadding;
  c.pad_bits = pad.paddingValue;
  detail::call(&AtcCoreApi::copy, &site, &c);
}
template <class T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyExtParams& params,
                 detail::Site site = detail::Site()) {
  const AtcCopy c = detail::padded<T>(detail::end_of(dst), detail::end_of(src), params);
  detail::call(&AtcCoreApi::copy, &site, &c);
}
template <class T>
void DataCopyPad(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const DataCopyParams& params,
                 detail::Site site = detail::Site()) {
  const AtcCopy c = detail::padded<T>(detail::end_of(dst), detail::end_of(src), params);
  detail::call(&AtcCoreApi::copy, &site, &c);
}

/// What the scalar unit has written goes to Global Memory, what it will read comes from there.
template <class T, CacheLine line, DcciDst = DcciDst::CACHELINE_ALL>
void DataCacheCleanAndInvalid(const GlobalTensor<T>& gm, detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::clean_cache, &site, &gm.place(),
               std::int32_t{line == CacheLine::ENTIRE_DATA_CACHE});
}

/// The following copies from the core to Global Memory add to what is there.
template <class T>
void SetAtomicAdd(detail::Site site = detail::Site()) {
  static_assert(detail::is_one_of<T, float, half, bfloat16_t, std::int8_t, std::int16_t, std::int32_t>,
                "SetAtomicAdd takes float, half, bfloat16_t, int8_t, int16_t or int32_t");
  detail::call(&AtcCoreApi::set_atomic, &site, std::int32_t{ATC_ATOMIC_ADD},
               std::int32_t{detail::type_code_v<T>});
}
template <class T>
void SetAtomicMax(detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_atomic, &site, std::int32_t{ATC_ATOMIC_MAX},
               std::int32_t{detail::type_code_v<T>});
}
template <class T>
void SetAtomicMin(detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_atomic, &site, std::int32_t{ATC_ATOMIC_MIN},
               std::int32_t{detail::type_code_v<T>});
}
inline void SetAtomicNone(detail::Site site = detail::Site()) {
  detail::call(&AtcCoreApi::set_atomic, &site, std::int32_t{ATC_ATOMIC_NONE}, std::int32_t{ATC_F32});
}

}  // namespace AscendC
