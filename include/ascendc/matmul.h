#pragma once

// The Matmul object: C = A x B + bias by tiles, iterated over or all at once. On chips with separate cores
// the vector cores call it and their cube core computes (REGIST_MATMUL_OBJ keeps the cube core there).
#include <cstdint>
#include <type_traits>

#include "ascendc/data_copy.h"
#include "ascendc/kernel_tiling/kernel_tiling.h"
#include "ascendc/matmul_types.h"
#include "ascendc/queues.h"
#include "kernel_operator.h"

namespace AscendC {
namespace detail {

enum class MatmulRole : std::int32_t { None, Own, Client, Server };

constexpr std::int64_t up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// What the methods have set of a product; shapes in elements.
struct MatmulState {
  AtcMatmul product{};
  TCubeTiling tiling{};
  std::int64_t org_m = 0, org_n = 0, org_ka = 0, org_kb = 0, org_kc = 0;
  std::int64_t single_m = 0, single_n = 0, single_k = 0;
  std::int64_t step = -1;     ///< the tile of Iterate
  bool asynchronous = false;  ///< Iterate<false>
  std::int64_t ticket = -1;
  MatmulRole role = MatmulRole::Own;
  std::uint64_t* scales = nullptr;

  void init(const TCubeTiling& t) {
    tiling = t;
    org_m = t.M;
    org_n = t.N;
    org_ka = t.Ka;
    org_kb = t.Kb;
    org_kc = 0;
    single_m = t.singleCoreM;
    single_n = t.singleCoreN;
    single_k = t.singleCoreK;
    step = -1;
  }
  std::int64_t tiles_m() const { return t_div(single_m, tiling.baseM); }
  std::int64_t tiles_n() const { return t_div(single_n, tiling.baseN); }
  static std::int64_t t_div(std::int64_t a, std::int64_t b) { return b > 0 ? (a + b - 1) / b : 0; }
};

inline AtcCopyEnd offset_end(const AtcCopyEnd& end, std::int64_t bytes) {
  AtcCopyEnd e = end;
  if (e.is_gm != 0) {
    e.gm.data = static_cast<unsigned char*>(e.gm.data) + bytes;
    if (e.gm.bytes >= 0) e.gm.bytes = e.gm.bytes > bytes ? e.gm.bytes - bytes : 0;
  } else {
    e.local.offset += static_cast<std::uint32_t>(bytes);
    e.local.bytes -= e.local.bytes > bytes ? static_cast<std::uint32_t>(bytes) : e.local.bytes;
  }
  return e;
}

}  // namespace detail

template <class A, class B, class C, class BIAS = C, const auto& MM_CFG = CFG_NORM,
          class Callback = MatmulCallBackFunc<>, class... Policy>
class Matmul {
 public:
  using AType = A;
  using BType = B;
  using CType = C;
  using BiasType = BIAS;
  using AT = typename A::T;
  using BT = typename B::T;
  using CT = typename C::T;
  using BiasT = typename BIAS::T;

  void Init(const TCubeTiling* tiling, TPipe* = nullptr) {
    if (tiling == nullptr) return;
    s_.init(*tiling);
  }

  // ---- Operands ----
  void SetTensorA(const GlobalTensor<AT>& gm, bool isTransposeA = false) {
    set_a(detail::end_of(gm), isTransposeA);
  }
  void SetTensorA(const LocalTensor<AT>& local, bool isTransposeA = false) {
    set_a(detail::end_of(local), isTransposeA);
  }
  void SetTensorB(const GlobalTensor<BT>& gm, bool isTransposeB = false) {
    set_b(detail::end_of(gm), isTransposeB);
  }
  void SetTensorB(const LocalTensor<BT>& local, bool isTransposeB = false) {
    set_b(detail::end_of(local), isTransposeB);
  }
  void SetBias(const GlobalTensor<BiasT>& gm) {
    s_.product.bias = detail::end_of(gm);
    s_.product.bias_type = detail::type_code_v<BiasT>;
  }
  void SetBias(const LocalTensor<BiasT>& local) {
    s_.product.bias = detail::end_of(local);
    s_.product.bias_type = detail::type_code_v<BiasT>;
  }
  void ClearBias() { s_.product.bias = {}; }
  void DisableBias() { ClearBias(); }

  // ---- Shapes ----
  void SetSingleShape(int m, int n, int k) {
    s_.single_m = m;
    s_.single_n = n;
    s_.single_k = k;
  }
  /// The shape of the last pieces; -1 keeps one.
  void SetTail(int m = -1, int n = -1, int k = -1) {
    if (m != -1) s_.single_m = m;
    if (n != -1) s_.single_n = n;
    if (k != -1) s_.single_k = k;
  }
  void SetOrgShape(int m, int n, int k) { SetOrgShape(m, n, k, k); }
  void SetOrgShape(int m, int n, int ka, int kb, int kc = 0) {
    s_.org_m = m;
    s_.org_n = n;
    s_.org_ka = ka;
    s_.org_kb = kb;
    s_.org_kc = kc;
  }

  // ---- Ways ----
  void SetQuantScalar(std::uint64_t scale) {
    s_.product.scale = scale;
    s_.product.quant = static_cast<std::uint8_t>(quant(false));
  }
  void SetQuantVector(const GlobalTensor<std::uint64_t>& scales) {
    s_.product.scales = scales.place();
    s_.product.quant = static_cast<std::uint8_t>(quant(true));
  }
  void SetHF32(bool enable = false, int mode = 0) {
    s_.product.hf32 = static_cast<std::uint8_t>(!enable     ? ATC_HF32_OFF
                                                : mode != 0 ? ATC_HF32_TOWARD_ZERO
                                                            : ATC_HF32_NEAREST);
  }
  void SetSubBlockIdx(std::uint8_t) {}
  template <class T>
  void SetWorkspace(T*, std::size_t) {}
  template <class T>
  void SetWorkspace(const GlobalTensor<T>&) {}
  void SetLocalWorkspace(const LocalTensor<std::uint8_t>&) {}
  void SetUserDefInfo(std::uint64_t) {}

  // ---- Products ----
  /// Goes on to the next tile; false behind the last. The first call begins, also with sync = false, where
  /// each GetTensorC goes on by itself.
  template <bool sync = true>
  bool Iterate(bool enPartialSum = false, detail::Site site = detail::Site()) {
    if (enPartialSum)
      detail::call(&AtcCoreApi::fail, &site,
                   "Iterate(enPartialSum = true) of the Matmul object is not simulated");
    s_.asynchronous = !sync;
    if (!sync) {
      s_.step = -1;
      return true;
    }
    if (++s_.step < s_.tiles_m() * s_.tiles_n()) return true;
    s_.step = -1;
    return false;
  }
  /// The tile. enSequentialWrite: the tensor is the tile, else the whole single-core result.
  template <bool sync = true>
  void GetTensorC(const LocalTensor<CT>& local, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                  detail::Site site = detail::Site()) {
    get(detail::end_of(local), enAtomic, enSequentialWrite, enSequentialWrite ? s_.tiling.baseN : s_.single_n,
        sync, site);
  }
  template <bool sync = true>
  void GetTensorC(const GlobalTensor<CT>& gm, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                  detail::Site site = detail::Site()) {
    get(detail::end_of(gm), enAtomic, enSequentialWrite, enSequentialWrite ? s_.tiling.baseN : pitch_c(),
        sync, site);
  }
  template <bool sync = true>
  void IterateAll(const GlobalTensor<CT>& gm, std::uint8_t enAtomic = 0, bool enSequentialWrite = false,
                  bool waitIterateAll = false, bool fakeMsg = false, detail::Site site = detail::Site()) {
    (void)waitIterateAll;
    (void)fakeMsg;
    if (enSequentialWrite) {
      for (s_.step = 0; s_.step < s_.tiles_m() * s_.tiles_n(); ++s_.step)
        tile(detail::offset_end(detail::end_of(gm), s_.step * s_.tiling.baseM * s_.tiling.baseN *
                                                        static_cast<std::int64_t>(sizeof(CT))),
             enAtomic, true, s_.tiling.baseN, site);
      s_.step = -1;
    } else {
      all(detail::end_of(gm), enAtomic, pitch_c(), site);
    }
    if (sync) wait(site);
  }
  template <bool sync = true>
  void IterateAll(const LocalTensor<CT>& local, std::uint8_t enAtomic = 0,
                  detail::Site site = detail::Site()) {
    all(detail::end_of(local), enAtomic, s_.single_n, site);
    if (sync) wait(site);
  }
  /// `count` products of operands that follow each other, of batchA x batchB.
  template <bool sync = true>
  void IterateBatch(const GlobalTensor<CT>& gm, std::uint32_t batchA, std::uint32_t batchB,
                    bool /*sequential*/, std::uint32_t strideA = 0, std::uint32_t strideB = 0,
                    std::uint32_t strideC = 0, bool enPartialSum = false, std::uint8_t enAtomic = 0,
                    detail::Site site = detail::Site()) {
    (void)enPartialSum;
    const std::int64_t a = strideA != 0 ? strideA : s_.single_m * s_.single_k,
                       b = strideB != 0 ? strideB : s_.single_n * s_.single_k,
                       c = strideC != 0 ? strideC : s_.single_m * s_.single_n;
    const std::uint32_t batches = batchA > batchB ? batchA : batchB;
    const AtcCopyEnd first_a = s_.product.a.at, first_b = s_.product.b.at;
    for (std::uint32_t i = 0; i < batches; ++i) {
      const std::int64_t ia = batchA == batches ? i : i / (batches / batchA),
                         ib = batchB == batches ? i : i / (batches / batchB);
      s_.product.a.at = detail::offset_end(first_a, detail::bytes_of<AT>(ia * a));
      s_.product.b.at = detail::offset_end(first_b, detail::bytes_of<BT>(ib * b));
      all(detail::offset_end(detail::end_of(gm), detail::bytes_of<CT>(i * c)), enAtomic, pitch_c(), site);
    }
    s_.product.a.at = first_a;
    s_.product.b.at = first_b;
    if (sync) wait(site);
  }
  void WaitIterateAll(detail::Site site = detail::Site()) { wait(site); }
  void WaitIterateBatch(detail::Site site = detail::Site()) { wait(site); }
  void WaitGetTensorC(detail::Site site = detail::Site()) { wait(site); }
  void End(detail::Site site = detail::Site()) {
    wait(site);
    s_.step = -1;
  }

  detail::MatmulState& state() { return s_; }

 private:
  static constexpr bool kColumns = C::format == CubeFormat::NZ;
  template <class Type>
  static constexpr std::uint8_t format_of() {
    static_assert(Type::format == CubeFormat::ND || Type::format == CubeFormat::NZ ||
                      Type::format == CubeFormat::ND_ALIGN || Type::format == CubeFormat::VECTOR,
                  "Matmul takes operands in ND, ND_ALIGN, NZ or VECTOR");
    return Type::format == CubeFormat::NZ ? ATC_MATRIX_NZ : ATC_MATRIX_ND;
  }
  static constexpr AtcQuant quant(bool vector) {
    static_assert(sizeof(CT) <= 4);
    if constexpr (detail::is_one_of<CT, half>)
      return vector ? ATC_QUANT_DEQ_F16_VECTOR : ATC_QUANT_DEQ_F16;
    else if constexpr (detail::is_one_of<AT, std::int8_t>)
      return vector ? ATC_QUANT_REQ_8_VECTOR : ATC_QUANT_REQ_8;
    else
      return vector ? ATC_QUANT_F32_8_VECTOR : ATC_QUANT_F32_8;
  }

  void set_a(const AtcCopyEnd& at, bool transpose) {
    s_.product.a = {at, detail::type_code_v<AT>, format_of<A>(), transpose, 0};
    s_.step = -1;
  }
  void set_b(const AtcCopyEnd& at, bool transpose) {
    s_.product.b = {at, detail::type_code_v<BT>, format_of<B>(), transpose, 0};
    s_.step = -1;
  }
  std::int64_t pitch_c() const { return s_.org_kc != 0 ? s_.org_kc : s_.org_n; }

  /// Stored rows or columns from one to the next: NZ stands column by column, padded to 16 rows.
  static std::int64_t pitch(const AtcMatrix& x, std::int64_t rows, std::int64_t cols) {
    if (x.transpose != 0) {
      const std::int64_t t = rows;
      rows = cols;
      cols = t;
    }
    if (x.format == ATC_MATRIX_NZ) return detail::up(rows, 16);
    return x.at.is_gm != 0 ? cols : detail::up(cols, 32 / static_cast<std::int64_t>(sizeof(AT)));
  }
  AtcMatmul product(const AtcCopyEnd& c, std::uint8_t atomic, std::int64_t m, std::int64_t n,
                    std::int64_t c_pitch) {
    AtcMatmul p = s_.product;
    p.m = m;
    p.n = n;
    p.k = s_.single_k;
    p.base_m = s_.tiling.baseM;
    p.base_n = s_.tiling.baseN;
    p.base_k = s_.tiling.baseK;
    p.depth_a = s_.tiling.depthA1;
    p.depth_b = s_.tiling.depthB1;
    p.columns_first = s_.tiling.iterateOrder == 0;
    p.atomic = atomic == 1 ? ATC_ATOMIC_ADD : atomic == 2 ? ATC_ATOMIC_MAX : atomic == 3 ? ATC_ATOMIC_MIN : 0;
    const bool a_gm = p.a.at.is_gm != 0, b_gm = p.b.at.is_gm != 0;
    p.a.pitch = pitch(p.a, a_gm ? s_.org_m : s_.single_m, a_gm ? s_.org_ka : s_.single_k);
    p.b.pitch = pitch(p.b, b_gm ? s_.org_kb : s_.single_k, b_gm ? s_.org_n : s_.single_n);
    p.c = {c, detail::type_code_v<CT>, format_of<C>(), 0, c_pitch};
    return p;
  }
  void start(const AtcMatmul& p, const detail::Site& site) {
    if (s_.role == detail::MatmulRole::None) return;
    s_.ticket = detail::call(&AtcCoreApi::matmul, &site, &p);
  }
  void wait(const detail::Site& site) {
    if (s_.ticket < 0) return;
    const std::int64_t ticket = s_.ticket;
    s_.ticket = -1;
    detail::call_and_switch(&AtcCoreApi::matmul_wait, &site, ticket);
  }
  void all(const AtcCopyEnd& c, std::uint8_t atomic, std::int64_t c_pitch, const detail::Site& site) {
    const std::int64_t rows = c.is_gm != 0 ? s_.org_m : s_.single_m;
    start(product(c, atomic, s_.single_m, s_.single_n, kColumns ? detail::up(rows, 16) : c_pitch), site);
  }

  /// Elements from a stored matrix's first to that at this row and column of the operand.
  static std::int64_t element(const AtcMatrix& x, std::int64_t row, std::int64_t col, std::int64_t size) {
    if (x.transpose != 0) {
      const std::int64_t t = row;
      row = col;
      col = t;
    }
    if (x.format != ATC_MATRIX_NZ) return row * x.pitch + col;
    const std::int64_t c0 = 32 / size;
    return col / c0 * x.pitch * c0 + row * c0;
  }
  void tile(const AtcCopyEnd& c, std::uint8_t atomic, bool sequential, std::int64_t c_pitch,
            const detail::Site& site) {
    const std::int64_t across = s_.tiles_n(), down = s_.tiles_m();
    const bool columns = s_.tiling.iterateOrder == 0;
    const std::int64_t i = columns ? s_.step % down : s_.step / across,
                       j = columns ? s_.step / down : s_.step % across;
    const std::int64_t row = i * s_.tiling.baseM, col = j * s_.tiling.baseN;
    const std::int64_t m = row + s_.tiling.baseM > s_.single_m ? s_.single_m - row : s_.tiling.baseM,
                       n = col + s_.tiling.baseN > s_.single_n ? s_.single_n - col : s_.tiling.baseN;
    const std::int64_t rows = sequential ? m : c.is_gm != 0 ? s_.org_m : s_.single_m;
    AtcMatmul p = product(c, atomic, m, n, kColumns ? detail::up(rows, 16) : c_pitch);
    p.a.at = detail::offset_end(p.a.at, detail::bytes_of<AT>(element(p.a, row, 0, sizeof(AT))));
    p.b.at = detail::offset_end(p.b.at, detail::bytes_of<BT>(element(p.b, 0, col, sizeof(BT))));
    if (!sequential) {
      const std::int64_t width = sizeof(CT) == 1 ? 32 : 16;
      p.c.at = detail::offset_end(
          p.c.at,
          detail::bytes_of<CT>(kColumns ? (col / width * p.c.pitch + row) * width : row * c_pitch + col));
    }
    if (p.bias.is_gm != 0 || p.bias.local.bytes != 0)
      p.bias = detail::offset_end(p.bias, detail::bytes_of<BiasT>(col));
    if (p.scales.data != nullptr) p.scales.data = static_cast<std::uint64_t*>(p.scales.data) + col;
    start(p, site);
  }
  void get(const AtcCopyEnd& c, std::uint8_t atomic, bool sequential, std::int64_t c_pitch, bool sync,
           const detail::Site& site) {
    if (s_.asynchronous) ++s_.step;
    tile(c, atomic, sequential, c_pitch, site);
    if (sync || s_.asynchronous) wait(site);
  }

  detail::MatmulState s_;
};
template <class A, class B, class C, class BIAS = C, const auto& MM_CFG = CFG_NORM, class... Rest>
using MatmulImpl = Matmul<A, B, C, BIAS, MM_CFG, Rest...>;

namespace detail {

inline void init_objects(MatmulRole) {}
template <class Object, class... Rest>
void init_objects(MatmulRole role, Object& object, Rest&&... rest) {
  object.state().role = role;
  init_objects(role, rest...);
}
template <class Object, class... Rest>
void init_objects(MatmulRole role, Object& object, const TCubeTiling* tiling, Rest&&... rest) {
  object.state().role = role;
  object.Init(tiling);
  init_objects(role, rest...);
}
template <class Object, class... Rest>
void init_objects(MatmulRole role, Object& object, TCubeTiling* tiling, Rest&&... rest) {
  init_objects(role, object, static_cast<const TCubeTiling*>(tiling), rest...);
}

/// True: the core was there for its vector cores, and is done.
template <class... Objects>
bool register_matmul(const Site& site, bool cube_only, TPipe*, const void* workspace, Objects&&... objects) {
  const auto role = static_cast<MatmulRole>(
      call(&AtcCoreApi::matmul_register, &site, std::int32_t{cube_only}, const_cast<void*>(workspace)));
  if (role == MatmulRole::Server) {
    call_and_switch(&AtcCoreApi::matmul_serve, &site);
    return true;
  }
  init_objects(role, objects...);
  return false;
}

}  // namespace detail
}  // namespace AscendC

/// Kernels use it for the whole library.
namespace matmul {
using namespace ::AscendC;
}  // namespace matmul

#ifdef ASCENDC_CUBE_ONLY
#define ATC_MATMUL_CUBE_ONLY true
#else
#define ATC_MATMUL_CUBE_ONLY false
#endif
#define REGIST_MATMUL_OBJ(pipe, workspace, ...)                                                              \
  do {                                                                                                       \
    if (::AscendC::detail::register_matmul(::AscendC::detail::Site(), ATC_MATMUL_CUBE_ONLY, pipe, workspace, \
                                           __VA_ARGS__))                                                     \
      return;                                                                                                \
  } while (0)
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ
