#pragma once

// How a product is cut for the Matmul object: MatmulApiTiling for one core, MultiCoreMatmulTiling for
// several. Tiles are as large as L0A, L0B (half of each) and L0C let them be; L1 keeps as many as half of it
// holds for either operand. A shape that cannot be cut is refused with the reason on stderr.
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "ascendc/position.h"
#include "atc/host_launch.h"
#include "atc_opp/library_tiling.h"
#include "atc_opp/platform.h"

namespace matmul_tiling {

using ::CubeFormat;
using ::AscendC::TPosition;
enum class DataType : int {
  DT_FLOAT = 0,
  DT_FLOAT16 = 1,
  DT_INT8 = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 6,
  DT_UINT16 = 7,
  DT_UINT32 = 8,
  DT_INT64 = 9,
  DT_UINT64 = 10,
  DT_BF16 = 27,
  DT_BFLOAT16 = 27,
  DT_INT4 = 29,
};
enum class MatrixTraverse : int { NOSET = 0, FIRSTM = 1, FIRSTN = 2 };
enum class MatrixMadType : int { NORMAL = 0, HF32 = 1 };
enum class DequantType : int { SCALAR = 0, TENSOR = 1 };
enum class ScheduleType : int { INNER_PRODUCT = 0, OUTER_PRODUCT, N_BUFFER_33 };
enum class PlatformVersion : int { ASCEND910 = 0, ASCEND910B, ASCEND310P, ASCEND310B };

struct PlatformInfo {
  std::uint64_t l1Size = 0, l0CSize = 0, ubSize = 0, l0ASize = 0, l0BSize = 0;
};

class MatmulApiTilingBase {
 public:
  /// Of the chip that programs run on; of Ascend910B without one.
  MatmulApiTilingBase() {
    const AtcCustomChip* chip = &atc_host_chip != nullptr ? atc_host_chip() : nullptr;
    if (chip != nullptr) set(chip->l1, chip->l0a, chip->l0b, chip->l0c, chip->ub, chip->split != 0);
  }
  explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC& platform) {
    using Memory = platform_ascendc::CoreMemType;
    std::uint64_t l1 = 0, a = 0, b = 0, c = 0, ub = 0;
    platform.GetCoreMemSize(Memory::L1, l1);
    platform.GetCoreMemSize(Memory::L0_A, a);
    platform.GetCoreMemSize(Memory::L0_B, b);
    platform.GetCoreMemSize(Memory::L0_C, c);
    platform.GetCoreMemSize(Memory::UB, ub);
    set(l1, a, b, c, ub, platform.GetCoreNumVector() == 0);
  }
  explicit MatmulApiTilingBase(const PlatformInfo& p) {
    set(p.l1Size, p.l0ASize, p.l0BSize, p.l0CSize, p.ubSize, true);
  }
  virtual ~MatmulApiTilingBase() = default;

  // Each gives 0, or -1 for what it does not take.
  std::int32_t SetAType(TPosition pos, CubeFormat format, DataType type, bool isTrans = false) {
    a_ = {pos, format, type, isTrans};
    return 0;
  }
  std::int32_t SetBType(TPosition pos, CubeFormat format, DataType type, bool isTrans = false) {
    b_ = {pos, format, type, isTrans};
    return 0;
  }
  std::int32_t SetCType(TPosition pos, CubeFormat format, DataType type) {
    c_ = {pos, format, type, false};
    return 0;
  }
  std::int32_t SetBiasType(TPosition pos, CubeFormat format, DataType type) {
    bias_ = {pos, format, type, false};
    return 0;
  }
  std::int32_t SetShape(std::int32_t m, std::int32_t n, std::int32_t k) {
    m_ = m;
    n_ = n;
    k_ = k;
    return m > 0 && n > 0 && k > 0 ? 0 : -1;
  }
  std::int32_t SetOrgShape(std::int32_t m, std::int32_t n, std::int32_t k) { return SetOrgShape(m, n, k, k); }
  std::int32_t SetOrgShape(std::int32_t m, std::int32_t n, std::int32_t ka, std::int32_t kb) {
    org_m_ = m;
    org_n_ = n;
    org_ka_ = ka;
    org_kb_ = kb;
    return m > 0 && n > 0 && ka > 0 && kb > 0 ? 0 : -1;
  }
  std::int32_t EnableBias(bool on = false) {
    has_bias_ = on;
    return 0;
  }
  std::int32_t SetBias(bool on = false) { return EnableBias(on); }
  /// Bytes that products may take; -1: all.
  std::int32_t SetBufferSpace(std::int32_t l1 = -1, std::int32_t l0c = -1, std::int32_t ub = -1,
                              std::int32_t = -1) {
    const auto limit = [](std::int64_t& size, std::int32_t wanted) {
      if (wanted >= 0) size = std::min<std::int64_t>(size, wanted);
    };
    limit(l1_, l1);
    limit(l0c_, l0c);
    limit(ub_, ub);
    return 0;
  }
  std::int32_t SetTraverse(MatrixTraverse order) {
    traverse_ = order;
    return 0;
  }
  /// What one core does; -1: as it comes out.
  std::int32_t SetSingleShape(std::int32_t m = -1, std::int32_t n = -1, std::int32_t k = -1) {
    wanted_m_ = m;
    wanted_n_ = n;
    wanted_k_ = k;
    return 0;
  }
  std::int32_t SetMadType(MatrixMadType) { return 0; }
  std::int32_t SetDequantType(DequantType) { return 0; }
  std::int32_t SetDoubleBuffer(bool, bool, bool, bool, bool = true, bool = true) { return 0; }
  /// The tile; -1: as it comes out.
  std::int32_t SetFixSplit(std::int32_t m = -1, std::int32_t n = -1, std::int32_t k = -1) {
    fix_m_ = m;
    fix_n_ = n;
    fix_k_ = k;
    return 0;
  }
  std::int32_t SetSplitRange(std::int32_t m = -1, std::int32_t n = -1, std::int32_t k = -1, std::int32_t = -1,
                             std::int32_t = -1, std::int32_t = -1) {
    max_m_ = m;
    max_n_ = n;
    max_k_ = k;
    return 0;
  }
  void SetMatmulConfigParams(std::int32_t = 1, bool = false, ScheduleType = ScheduleType::INNER_PRODUCT,
                             MatrixTraverse order = MatrixTraverse::NOSET, bool = false) {
    if (order != MatrixTraverse::NOSET) traverse_ = order;
  }
  std::int32_t SetBatchNum(std::int32_t n) {
    batch_ = n;
    return 0;
  }
  std::int32_t SetBatchInfoForNormal(std::int32_t batchA, std::int32_t batchB, std::int32_t m, std::int32_t n,
                                     std::int32_t k) {
    batch_ = std::max(batchA, batchB);
    return SetShape(m, n, k) + SetOrgShape(m, n, k) == 0 ? 0 : -1;
  }
  std::int32_t GetBaseM() const { return base_m_; }
  std::int32_t GetBaseN() const { return base_n_; }
  std::int32_t GetBaseK() const { return base_k_; }

  /// 0, or -1 where the product cannot be cut.
  std::int64_t GetTiling(optiling::TCubeTiling& out) {
    AscendC::tiling::TCubeTiling t{};
    if (GetTiling(t) != 0) return -1;
#define ATC_OPP_SET(name) out.set_##name(t.name);
    ATC_CUBE_TILING_FIELDS(ATC_OPP_SET)
#undef ATC_OPP_SET
    return 0;
  }
  std::int64_t GetTiling(AscendC::tiling::TCubeTiling& t) {
    if (m_ <= 0 || n_ <= 0 || k_ <= 0) return refuse("SetShape was not called, or with a size below 1");
    if (size_of(a_.type) == 0 || a_.type != b_.type)
      return refuse("operands must be of one type: half, bfloat16, float or int8");
    if (!cut()) return -1;
    return fill(t);
  }

 protected:
  struct Type {
    TPosition position = TPosition::GM;
    CubeFormat format = CubeFormat::ND;
    DataType type = DataType::DT_FLOAT16;
    bool transposed = false;
  };

  static std::int64_t size_of(DataType type) {
    switch (type) {
      case DataType::DT_FLOAT:
      case DataType::DT_INT32:
        return 4;
      case DataType::DT_FLOAT16:
      case DataType::DT_BF16:
        return 2;
      case DataType::DT_INT8:
        return 1;
      default:
        return 0;
    }
  }
  static std::int64_t up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }
  std::int64_t refuse(const char* why) const {
    std::fprintf(stderr, "Matmul tiling of %d x %d x %d failed: %s\n", static_cast<int>(m_),
                 static_cast<int>(k_), static_cast<int>(n_), why);
    return -1;
  }
  /// Shares the product out to the cores: sets cores_ and single_*.
  virtual bool cut() {
    cores_ = 1;
    single_m_ = wanted_m_ > 0 ? wanted_m_ : m_;
    single_n_ = wanted_n_ > 0 ? wanted_n_ : n_;
    single_k_ = wanted_k_ > 0 ? wanted_k_ : k_;
    return true;
  }

  std::int64_t fill(AscendC::tiling::TCubeTiling& t) {
    constexpr std::int64_t kEdge = 16;
    const std::int64_t size = size_of(a_.type), c0 = 32 / size, half_a = l0a_ / 2, half_b = l0b_ / 2;
    // Blocks of bytes and of floats that are turned span 32 and 16 along k.
    const std::int64_t k_step = size == 4 ? 16 : c0, n_step = size == 1 ? 32 : kEdge;
    const auto limited = [](std::int64_t most, std::int32_t max) {
      return max > 0 ? std::min<std::int64_t>(most, max) : most;
    };
    std::int64_t m = fix_m_ > 0 ? fix_m_ : std::min(up(single_m_, kEdge), limited(128, max_m_));
    std::int64_t n = fix_n_ > 0 ? fix_n_ : std::min(up(single_n_, n_step), limited(256, max_n_));
    const auto c_fits = [&] {
      if (m * n * 4 > l0c_) return false;
      const bool in_ub = c_.position != TPosition::GM && c_.position != TPosition::TSCM;
      return !in_ub || m * n * size_of(c_.type) <= ub_ / 2;
    };
    while (!c_fits()) {
      const bool can_n = fix_n_ <= 0 && n > n_step, can_m = fix_m_ <= 0 && m > kEdge;
      if (!can_n && !can_m) return refuse("a tile of C (baseM x baseN) does not fit L0C, or half of the UB");
      if (can_n && (n >= m || !can_m))
        n = up(n / 2, n_step);
      else
        m = up(m / 2, kEdge);
    }
    const std::int64_t most_k = std::min(half_a / (up(m, kEdge) * size), half_b / (up(n, kEdge) * size));
    std::int64_t k =
        fix_k_ > 0
            ? fix_k_
            : std::min({up(single_k_, k_step), most_k / k_step * k_step, limited(4096 - k_step, max_k_)});
    if (k <= 0 || up(m, kEdge) * up(k, c0) * size > l0a_ || up(n, kEdge) * up(k, c0) * size > l0b_)
      return refuse("tiles of A (baseM x baseK) or B (baseK x baseN) do not fit L0A or L0B");
    if (up(m, kEdge) * up(k, c0) * size + up(n, kEdge) * up(k, c0) * size > l1_)
      return refuse("a tile of A and one of B do not fit L1");
    base_m_ = static_cast<std::int32_t>(m);
    base_n_ = static_cast<std::int32_t>(n);
    base_k_ = static_cast<std::int32_t>(k);
    const std::int64_t k_tiles = (single_k_ + k - 1) / k;
    const auto depth = [&](std::int64_t edge) {
      const std::int64_t fit = std::max<std::int64_t>(l1_ / 2 / (up(edge, kEdge) * up(k, c0) * size), 1);
      return static_cast<std::int32_t>(std::min(fit, 2 * k_tiles));
    };
    t = {};
    t.usedCoreNum = static_cast<std::int32_t>(cores_);
    t.M = org_m_ > 0 ? org_m_ : m_;
    t.N = org_n_ > 0 ? org_n_ : n_;
    t.Ka = org_ka_ > 0 ? org_ka_ : k_;
    t.Kb = org_kb_ > 0 ? org_kb_ : k_;
    t.singleCoreM = static_cast<std::int32_t>(single_m_);
    t.singleCoreN = static_cast<std::int32_t>(single_n_);
    t.singleCoreK = static_cast<std::int32_t>(single_k_);
    t.baseM = base_m_;
    t.baseN = base_n_;
    t.baseK = base_k_;
    t.depthA1 = depth(m);
    t.depthB1 = depth(n);
    t.stepM = t.stepN = 1;
    t.stepKa = std::max(1, t.depthA1 / 2);
    t.stepKb = std::max(1, t.depthB1 / 2);
    t.isBias = has_bias_;
    t.iterateOrder = traverse_ == MatrixTraverse::FIRSTN ? 1 : 0;
    t.shareL1Size =
        static_cast<std::int32_t>((t.depthA1 * up(m, kEdge) + t.depthB1 * up(n, kEdge)) * up(k, c0) * size);
    t.shareL0CSize = static_cast<std::int32_t>(m * n * 4);
    t.transLength = static_cast<std::int32_t>(split_ ? 0 : m * n * 4);
    t.dbL0A = t.dbL0B = 2;
    t.dbL0C = 2 * m * n * 4 <= l0c_ ? 2 : 1;
    t.BatchNum = batch_;
    t.batchM = t.batchN = t.singleBatchM = t.singleBatchN = 1;
    return 0;
  }

  Type a_, b_, c_, bias_;
  std::int32_t m_ = 0, n_ = 0, k_ = 0, org_m_ = 0, org_n_ = 0, org_ka_ = 0, org_kb_ = 0;
  std::int32_t fix_m_ = -1, fix_n_ = -1, fix_k_ = -1, max_m_ = -1, max_n_ = -1, max_k_ = -1, batch_ = 0;
  std::int32_t wanted_m_ = -1, wanted_n_ = -1, wanted_k_ = -1;
  std::int32_t base_m_ = 0, base_n_ = 0, base_k_ = 0;
  std::int64_t cores_ = 1, single_m_ = 0, single_n_ = 0, single_k_ = 0;
  bool has_bias_ = false;
  MatrixTraverse traverse_ = MatrixTraverse::NOSET;

 private:
  void set(std::uint64_t l1, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t ub,
           bool split) {
    l1_ = static_cast<std::int64_t>(l1);
    l0a_ = static_cast<std::int64_t>(a);
    l0b_ = static_cast<std::int64_t>(b);
    l0c_ = static_cast<std::int64_t>(c);
    ub_ = static_cast<std::int64_t>(ub);
    split_ = split;
  }
  std::int64_t l1_ = 512 << 10, l0a_ = 64 << 10, l0b_ = 64 << 10, l0c_ = 128 << 10, ub_ = 192 << 10;
  bool split_ = true;
};

/// The tiling of the product that one core does.
class MatmulApiTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
};
class BatchMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
};

/// A product shared out to cores by rows and columns of C.
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
 public:
  using MatmulApiTilingBase::MatmulApiTilingBase;
  std::int32_t SetDim(std::int32_t cores) {
    dim_ = cores;
    return cores > 0 ? 0 : -1;
  }
  std::int32_t SetSingleRange(std::int32_t = -1, std::int32_t = -1, std::int32_t = -1, std::int32_t = -1,
                              std::int32_t = -1, std::int32_t = -1) {
    return 0;
  }
  /// Pieces are multiples of these.
  std::int32_t SetAlignSplit(std::int32_t m, std::int32_t n, std::int32_t k) {
    align_m_ = m > 0 ? m : 1;
    align_n_ = n > 0 ? n : 1;
    (void)k;
    return 0;
  }
  std::int32_t EnableMultiCoreSplitK(bool) { return 0; }
  std::int32_t GetSingleShape(std::int32_t& m, std::int32_t& n, std::int32_t& k) const {
    m = static_cast<std::int32_t>(single_m_);
    n = static_cast<std::int32_t>(single_n_);
    k = static_cast<std::int32_t>(single_k_);
    return 0;
  }
  std::int32_t GetCoreNum(std::int32_t& dim, std::int32_t& m, std::int32_t& n) const {
    dim = static_cast<std::int32_t>(cores_);
    m = static_cast<std::int32_t>(across(m_, single_m_));
    n = static_cast<std::int32_t>(across(n_, single_n_));
    return 0;
  }

 private:
  static std::int64_t across(std::int64_t all, std::int64_t one) {
    return one > 0 ? (all + one - 1) / one : 0;
  }
  // The largest piece as small as can be, then as square as can be. Where the user fixes tiles, pieces are
  // whole tiles. Many kernels handle no tails, so pieces of one shape are taken when they cost up to a sixth
  // more than others.
  bool cut() override {
    const std::int64_t step_m = up(fix_m_ > 0 ? fix_m_ : 16, align_m_),
                       step_n = up(fix_n_ > 0 ? fix_n_ : 16, align_n_);
    std::int64_t best = -1, best_edge = 0;
    for (std::int64_t dm = 1; dm <= dim_; ++dm) {
      const std::int64_t m =
          wanted_m_ > 0 ? wanted_m_ : std::min<std::int64_t>(up(across(m_, dm), step_m), up(m_, 1));
      const std::int64_t used_m = across(m_, m), dn = dim_ / used_m;
      if (dn < 1) continue;
      const std::int64_t n =
          wanted_n_ > 0 ? wanted_n_ : std::min<std::int64_t>(up(across(n_, dn), step_n), up(n_, 1));
      if (used_m * across(n_, n) > dim_) continue;
      const bool even = m_ % m == 0 && n_ % n == 0;
      const std::int64_t area = m * n * (even ? 6 : 7), edge = m + n;
      if (best >= 0 && (area > best || (area == best && edge >= best_edge))) continue;
      best = area;
      best_edge = edge;
      single_m_ = m;
      single_n_ = n;
      cores_ = used_m * across(n_, n);
    }
    if (best < 0) {
      refuse("SetDim has fewer cores than SetSingleShape has pieces");
      return false;
    }
    single_k_ = wanted_k_ > 0 ? wanted_k_ : k_;
    return true;
  }
  std::int32_t dim_ = 1, align_m_ = 1, align_n_ = 1;
};

}  // namespace matmul_tiling
