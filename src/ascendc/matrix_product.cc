#include "ascendc/matrix_product.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ascendc/instructions.h"
#include "ascendc/matrix_loads.h"
#include "atc/base/math.h"

// A product tile by tile with the instructions that a kernel would use: Global Memory to L1 as NZ, fractals
// to L0A and L0B, Mmad, Fixpipe. L1 keeps the tiles that were used last; L0A, L0B and L0C have two buffers
// each where two fit.
namespace atc::ascendc {
namespace {

constexpr const char* kWhat = "Matmul";

/// A moment of a pipe that another one waits for.
struct Event {
  Cycle at = 0;
  Pipes::Clock clock{};
};

class Product : private MatrixLoads {
 public:
  Product(Block& b, const AtcSite& site, const AtcMatmul& m)
      : MatrixLoads(b, site),
        m_(m),
        a_(operand_of(m.a, m.a.transpose != 0)),
        bt_(operand_of(m.b, m.b.transpose == 0)) {}

  void run() {
    plan();
    if (in_ub(m_.a) || in_ub(m_.b)) b_.pipes.barrier_all();
    // What an earlier product left in the buffers has been used before they are written again.
    order(Pipe::MTE1, Pipe::MTE2);
    order(Pipe::M, Pipe::MTE1);
    order(Pipe::FIX, Pipe::M);
    const std::int64_t mt = ceil_div(m_.m, m_.base_m), nt = ceil_div(m_.n, m_.base_n);
    for (std::int64_t i = 0; i < mt * nt; ++i)
      tile(m_.columns_first != 0 ? i % mt : i / nt, m_.columns_first != 0 ? i / mt : i % nt);
  }

 private:
  /// Buffers of one memory that take turns.
  struct Slots {
    AtcLocal first{};
    std::int64_t bytes = 0;
    struct Slot {
      std::int64_t row = -1, col = -1;  ///< the tile that it holds
      Event filled, used;
    };
    std::vector<Slot> slots;
    std::size_t next = 0;
    AtcLocal at(std::size_t i) const {
      AtcLocal t = first;
      t.offset += static_cast<std::uint32_t>(static_cast<std::int64_t>(i) * bytes);
      t.bytes = static_cast<std::uint32_t>(bytes);
      return t;
    }
  };

  void note(Event& e, Pipe from) { b_.pipes.snapshot(from, e.at, e.clock); }
  void await(Pipe to, const Event& e) { b_.pipes.join(to, e.at, e.clock); }
  void order(Pipe from, Pipe to) {
    Event e;
    note(e, from);
    await(to, e);
  }

  // Buffers from the first byte that the kernel's own leave free.
  Slots slots(AtcMemory memory, std::int64_t& used, std::int64_t bytes, std::int64_t count,
              const char* what) {
    Slots s;
    s.bytes = round_up(bytes, memory == ATC_L0C ? 1024 : kFractal);
    const std::int64_t begin = round_up(used, std::int64_t{1024});
    const std::int64_t room = b_.capacity(static_cast<std::uint8_t>(memory)) - begin;
    if (s.bytes > room)
      b_.stop(site_, "buffer-overflow",
              std::string(kWhat) + ": a tile of " + what + " is " + std::to_string(s.bytes) + " bytes, " +
                  std::to_string(std::max<std::int64_t>(room, 0)) + " of " +
                  std::string(memory_name(static_cast<std::uint8_t>(memory))) + " are free. Tiling: baseM " +
                  std::to_string(m_.base_m) + ", baseN " + std::to_string(m_.base_n) + ", baseK " +
                  std::to_string(m_.base_k));
    count = std::clamp<std::int64_t>(room / s.bytes, 1, count);
    s.first = {static_cast<std::uint8_t>(memory), static_cast<std::uint8_t>(Position::Max), 0, -1,
               static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(s.bytes)};
    s.slots.resize(static_cast<std::size_t>(count));
    used = begin + s.bytes * count;
    return s;
  }

  static bool in_ub(const AtcMatrix& x) { return x.at.is_gm == 0 && x.at.local.memory == ATC_UB; }

  void check_types() {
    const bool fine = (m_.a.type == m_.b.type) && (m_.a.type == ATC_F16 || m_.a.type == ATC_BF16 ||
                                                   m_.a.type == ATC_F32 || m_.a.type == ATC_I8);
    if (!fine)
      b_.stop(site_, "dtype",
              std::string(kWhat) + " of " + std::string(type_name(m_.a.type)) + " by " +
                  std::string(type_name(m_.b.type)) +
                  ": both operands are half, bfloat16_t, float or int8_t");
    sum_ = m_.a.type == ATC_I8 ? ATC_I32 : ATC_F32;
    if (m_.quant == ATC_QUANT_NONE && m_.c.type != sum_ &&
        !(sum_ == ATC_F32 && (m_.c.type == ATC_F16 || m_.c.type == ATC_BF16)))
      b_.stop(site_, "dtype",
              std::string(kWhat) + ": the result is summed up in " + std::string(type_name(sum_)) +
                  " and cannot become " + std::string(type_name(m_.c.type)) +
                  (sum_ == ATC_I32 ? " without SetQuantScalar or SetQuantVector" : ""));
  }

  void plan() {
    check_types();
    if (m_.base_m <= 0 || m_.base_n <= 0 || m_.base_k <= 0)
      b_.stop(site_, "matmul-tiling",
              std::string(kWhat) + ": baseM " + std::to_string(m_.base_m) + ", baseN " +
                  std::to_string(m_.base_n) + ", baseK " + std::to_string(m_.base_k) +
                  " must be positive: is TCubeTiling the kernel's tiling argument, and filled by GetTiling?");
    if (has_bias() && round_up(m_.base_n, kEdge) * bits_of(m_.bias_type) / 8 > b_.capacity(ATC_BIAS_TABLE))
      b_.stop(site_, "matmul-tiling",
              std::string(kWhat) + ": a bias of baseN " + std::to_string(m_.base_n) + " elements of " +
                  std::string(type_name(m_.bias_type)) + " is more than the bias table's " +
                  std::to_string(b_.capacity(ATC_BIAS_TABLE)) + " bytes");
    const std::int64_t mf = ceil_div(std::min(m_.base_m, m_.m), kEdge),
                       nf = ceil_div(std::min(m_.base_n, m_.n), kEdge),
                       kf = ceil_div(std::min(m_.base_k, m_.k), a_.c0);
    std::int64_t l0a = 0, l0b = 0, l0c = 0, l1 = b_.buffers.used(ATC_L1);
    l0a = b_.buffers.used(ATC_L0A);
    l0b = b_.buffers.used(ATC_L0B);
    l0c = b_.buffers.used(ATC_L0C);
    // Turned blocks come in pairs of fractals where a block has two.
    const bool pairs = a_.size != 2;
    const auto even = [&](std::int64_t n, bool turned) {
      return pairs && turned ? round_up(n, std::int64_t{2}) : n;
    };
    l0a_ = slots(ATC_L0A, l0a, even(mf, a_.turned) * even(kf, a_.turned) * kFractal, 2, "A");
    l0b_ = slots(ATC_L0B, l0b, even(kf, bt_.turned) * even(nf, bt_.turned) * kFractal, 2, "B");
    l0c_ = slots(ATC_L0C, l0c, mf * nf * kEdge * kEdge * 4, 2, "C");
    if (has_bias()) bias_ = slots(ATC_L1, l1, round_up(m_.base_n, kEdge) * 4, 1, "the bias");
    if (m_.scales.data != nullptr)
      scales_ = slots(ATC_L1, l1, round_up(m_.base_n, kEdge) * 8, 1, "the scales");
    const std::int64_t rows_m = std::min(m_.base_m, m_.m), rows_n = std::min(m_.base_n, m_.n),
                       rows_k = std::min(m_.base_k, m_.k);
    const std::int64_t a_bytes = a_.turned ? a_.l1_bytes(rows_k, rows_m) : a_.l1_bytes(rows_m, rows_k);
    const std::int64_t b_bytes = bt_.turned ? bt_.l1_bytes(rows_k, rows_n) : bt_.l1_bytes(rows_n, rows_k);
    const std::int64_t free = b_.capacity(ATC_L1) - l1;
    // Half of what is there for either, should the tiling ask for more than fits.
    const auto depth = [&](std::int64_t wanted, std::int64_t bytes) {
      return std::clamp<std::int64_t>(free / 2 / std::max<std::int64_t>(bytes, 1), 1,
                                      std::max<std::int64_t>(wanted, 1));
    };
    if (!a_.in_l1()) l1a_ = slots(ATC_L1, l1, a_bytes, depth(m_.depth_a, a_bytes), "A");
    if (!bt_.in_l1()) l1b_ = slots(ATC_L1, l1, b_bytes, depth(m_.depth_b, b_bytes), "B");
  }

  /// The tile in L1 and its rows there; loads it when it is not there.
  std::size_t fetch(Slots& l1, const Operand& o, std::int64_t row, std::int64_t rows, std::int64_t col,
                    std::int64_t cols) {
    for (std::size_t i = 0; i < l1.slots.size(); ++i)
      if (l1.slots[i].row == row && l1.slots[i].col == col) return i;
    const std::size_t i = l1.next++ % l1.slots.size();
    Slots::Slot& s = l1.slots[i];
    await(Pipe::MTE2, s.used);
    if (o.x->at.is_gm == 0) order(Pipe::V, Pipe::MTE3);
    load_l1(o, l1.at(i), row, rows, col, cols);
    note(s.filled, o.x->at.is_gm != 0 ? Pipe::MTE2 : Pipe::MTE3);
    s.row = row;
    s.col = col;
    return i;
  }

  void load_operand(const Operand& o, Slots& l1, const AtcLocal& to, bool is_a, std::int64_t m_or_n,
                    std::int64_t first, std::int64_t k, std::int64_t first_k) {
    const std::int64_t rows = o.turned ? k : m_or_n, cols = o.turned ? m_or_n : k;
    const std::int64_t row = o.turned ? first_k : first, col = o.turned ? first : first_k;
    AtcLocal from{};
    std::int64_t rows16 = round_up(rows, kEdge);
    std::size_t slot = 0;
    if (o.in_l1()) {
      if (o.x->format != ATC_MATRIX_NZ || (o.turned && o.size != 2))
        b_.stop(
            site_, "unsupported",
            std::string(kWhat) + ": an operand in L1 must be NZ, and of 16-bit elements when it is turned");
      from = part(o.x->at.local, (col / o.c0 * o.x->pitch + row) * kRow);
      rows16 = o.x->pitch;
    } else {
      slot = fetch(l1, o, row, rows, col, cols);
      from = l1.at(slot);
      await(Pipe::MTE1, l1.slots[slot].filled);
    }
    if (o.in_l1() && o.turned) {
      // Blocks of one column of blocks follow each other along k.
      const std::int64_t across = ceil_div(m_or_n, kEdge), deep = ceil_div(k, kEdge), step = rows16 / kEdge;
      for (std::int64_t i = 0; i < (is_a ? across : deep); ++i)
        load(part(to, i * (is_a ? deep : across) * kFractal), from, o, is_a ? i * step : i,
             is_a ? deep : across, is_a ? 1 : step, 0, 0);
    } else if (is_a) {
      load_a(o, to, from, m_or_n, k, rows16);
    } else {
      load_b(o, to, from, k, m_or_n, rows16);
    }
    if (!o.in_l1()) note(l1.slots[slot].used, Pipe::MTE1);
  }

  bool has_bias() const { return m_.bias.is_gm != 0 ? m_.bias.gm.data != nullptr : m_.bias.local.bytes != 0; }
  /// The bias of a tile's columns, in the bias table.
  AtcLocal load_bias(std::int64_t col, std::int64_t n) {
    const std::int64_t size = bits_of(m_.bias_type) / 8;
    const Pipe pipe = m_.bias.is_gm != 0 ? Pipe::MTE2 : Pipe::MTE3;
    if (m_.bias.is_gm == 0) order(Pipe::V, pipe);
    order(Pipe::MTE1, pipe);
    if (m_.bias.is_gm != 0)
      to_nz(moved(m_.bias, col * size), bias_.at(0), m_.bias_type, 1, 1, n, n, 1, 0);
    else
      blocks(moved(m_.bias, col * size), bias_.at(0), m_.bias_type, 1, round_up(n * size, kRow), 0, 0);
    order(pipe, Pipe::MTE1);
    order(Pipe::M, Pipe::MTE1);
    const AtcLocal table{
        ATC_BIAS_TABLE, static_cast<std::uint8_t>(Position::C2), 0, -1, 0, b_.memory_bytes[ATC_BIAS_TABLE]};
    blocks({0, bias_.at(0), {nullptr, -1, -1}}, table, m_.bias_type, 1, round_up(n * size, kRow), 0, 0);
    return table;
  }

  AtcLocal load_scales(std::int64_t col, std::int64_t n) {
    order(Pipe::MTE1, Pipe::MTE2);
    AtcCopyEnd from{1, {}, m_.scales};
    blocks(moved(from, col * 8), scales_.at(0), ATC_U64, 1, round_up(n * 8, kRow), 0, 0);
    order(Pipe::MTE2, Pipe::MTE1);
    order(Pipe::FIX, Pipe::MTE1);
    const AtcLocal buffer{ATC_FIXPIPE_BUFFER,
                          static_cast<std::uint8_t>(Position::C2Pipe2Gm),
                          0,
                          -1,
                          0,
                          b_.memory_bytes[ATC_FIXPIPE_BUFFER]};
    blocks({0, scales_.at(0), {nullptr, -1, -1}}, buffer, ATC_U64, 1, round_up(n * 8, kRow), 0, 0);
    order(Pipe::MTE1, Pipe::FIX);
    return buffer;
  }

  void tile(std::int64_t i, std::int64_t j) {
    const std::int64_t row = i * m_.base_m, col = j * m_.base_n;
    const std::int64_t m = std::min(m_.base_m, m_.m - row), n = std::min(m_.base_n, m_.n - col);
    const std::size_t c = l0c_.next++ % l0c_.slots.size();
    await(Pipe::M, l0c_.slots[c].used);
    AtcMmad p{};
    p.dst = l0c_.at(c);
    p.dst_type = sum_;
    p.a_type = m_.a.type;
    p.b_type = m_.b.type;
    p.m = static_cast<std::uint16_t>(m);
    p.n = static_cast<std::uint16_t>(n);
    p.bias = {0, 0, 0, -1, 0, 0};
    if (has_bias()) {
      p.bias = load_bias(col, n);
      p.bias_type = m_.bias_type;
    }
    for (std::int64_t k0 = 0; k0 < m_.k; k0 += m_.base_k) {
      const std::int64_t k = std::min(m_.base_k, m_.k - k0);
      const std::size_t s = step_++ % std::min(l0a_.slots.size(), l0b_.slots.size());
      await(Pipe::MTE1, l0a_.slots[s].used);
      load_operand(a_, l1a_, l0a_.at(s), true, m, row, k, k0);
      load_operand(bt_, l1b_, l0b_.at(s), false, n, col, k, k0);
      order(Pipe::MTE1, Pipe::M);
      p.a = l0a_.at(s);
      p.b = l0b_.at(s);
      p.k = static_cast<std::uint16_t>(k);
      p.accumulate = k0 > 0;
      // The results of small products are not there yet when the next one begins.
      if (k0 > 0) b_.pipes.barrier(Pipe::M);
      const int kept = b_.hf32;
      if (m_.hf32 != ATC_HF32_OFF) b_.hf32 = m_.hf32;
      mmad(b_, site_, p);
      b_.hf32 = kept;
      note(l0a_.slots[s].used, Pipe::M);
    }
    order(Pipe::M, out_pipe());
    store(l0c_.at(c), row, m, col, n);
    note(l0c_.slots[c].used, out_pipe());
  }

  Pipe out_pipe() const { return m_.c.at.is_gm != 0 || m_.c.at.local.memory != ATC_UB ? Pipe::FIX : Pipe::V; }

  void store(const AtcLocal& from, std::int64_t row, std::int64_t m, std::int64_t col, std::int64_t n) {
    const std::int64_t size = bits_of(m_.c.type) / 8, width = size == 1 ? 32 : kEdge;
    const bool nd = m_.c.format == ATC_MATRIX_ND;
    const std::int64_t at = nd ? row * m_.c.pitch + col : (col / width * m_.c.pitch + row) * width;
    AtcFixpipe f{};
    f.dst = moved(m_.c.at, at * size);
    f.src = from;
    f.dst_type = m_.c.type;
    f.src_type = sum_;
    f.row_major = nd;
    f.m = static_cast<std::uint16_t>(m);
    f.n = static_cast<std::uint16_t>(n);
    f.src_stride = static_cast<std::uint32_t>(round_up(m, kEdge));
    f.dst_stride = static_cast<std::uint32_t>(nd ? m_.c.pitch : m_.c.pitch * width * size / kRow);
    f.matrices = 1;
    f.quant = m_.quant != ATC_QUANT_NONE ? m_.quant
              : m_.c.type == sum_        ? static_cast<std::uint8_t>(ATC_QUANT_NONE)
              : m_.c.type == ATC_F16     ? static_cast<std::uint8_t>(ATC_QUANT_F16)
                                         : static_cast<std::uint8_t>(ATC_QUANT_BF16);
    f.scale = m_.scale;
    f.scales = {0, 0, 0, -1, 0, 0};
    if (m_.scales.data != nullptr) f.scales = load_scales(col, n);
    const int kept = b_.atomic;
    const std::uint8_t kept_type = b_.atomic_type;
    if (m_.atomic != ATC_ATOMIC_NONE) {
      b_.atomic = m_.atomic;
      b_.atomic_type = m_.c.type;
    }
    fixpipe(b_, site_, f);
    b_.atomic = kept;
    b_.atomic_type = kept_type;
  }

  const AtcMatmul& m_;
  Operand a_, bt_;
  std::uint8_t sum_ = ATC_F32;
  Slots l1a_, l1b_, l0a_, l0b_, l0c_, bias_, scales_;
  std::size_t step_ = 0;
};

}  // namespace

void run_matmul(Block& b, const AtcSite& site, const AtcMatmul& m) {
  b.begin_instruction();
  if (m.m <= 0 || m.n <= 0 || m.k <= 0) return;
  Product(b, site, m).run();
  // A result in the core's own memory is there when the call returns.
  if (m.c.at.is_gm == 0) b.pipes.barrier_all();
}

}  // namespace atc::ascendc
