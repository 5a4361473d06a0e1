#include "ascendc/matrix_loads.h"

#include "ascendc/instructions.h"

namespace atc::ascendc {
namespace {

constexpr std::int64_t kMaxRepeat = 255;

}  // namespace

Operand operand_of(const AtcMatrix& x, bool turned) {
  Operand o;
  o.x = &x;
  o.turned = turned;
  o.size = std::max(bits_of(x.type) / 8, 1);
  o.c0 = kRow / o.size;
  o.side = o.size == 1 ? 32 : 16;
  return o;
}

AtcCopyEnd moved(const AtcCopyEnd& end, std::int64_t bytes) {
  AtcCopyEnd e = end;
  if (e.is_gm != 0) {
    e.gm.data = static_cast<std::byte*>(e.gm.data) + bytes;
    if (e.gm.bytes >= 0) e.gm.bytes = std::max<std::int64_t>(e.gm.bytes - bytes, 0);
  } else {
    e.local.offset += static_cast<std::uint32_t>(bytes);
    e.local.bytes -= std::min(e.local.bytes, static_cast<std::uint32_t>(bytes));
  }
  return e;
}

void MatrixLoads::to_nz(const AtcCopyEnd& from, const AtcLocal& to, std::uint8_t type, std::int64_t matrices,
                        std::int64_t rows, std::int64_t cols, std::int64_t pitch, std::int64_t c0_stride,
                        std::int64_t matrix_elements) {
  if (matrices <= 0 || rows <= 0) return;
  AtcNd2Nz c{};
  c.dst = to;
  c.src = from.gm;
  c.type = type;
  c.matrices = static_cast<std::uint32_t>(matrices);
  c.rows = static_cast<std::uint32_t>(rows);
  c.cols = static_cast<std::uint32_t>(cols);
  c.src_matrix_stride = static_cast<std::uint64_t>(rows * pitch);
  c.src_row_stride = static_cast<std::uint64_t>(pitch);
  c.dst_c0_stride = static_cast<std::uint32_t>(c0_stride);
  c.dst_row_stride = 1;
  c.dst_matrix_stride = static_cast<std::uint64_t>(matrix_elements);
  nd2nz(b_, site_, c);
}

void MatrixLoads::blocks(const AtcCopyEnd& from, const AtcLocal& to, std::uint8_t type, std::int64_t count,
                         std::int64_t bytes, std::int64_t src_gap, std::int64_t dst_gap) {
  AtcCopy c{};
  c.dst = {0, to, {nullptr, -1, -1}};
  c.src = from;
  c.form = ATC_COPY_BLOCKS;
  c.type = type;
  c.block_count = static_cast<std::uint32_t>(count);
  c.block_bytes = bytes;
  c.src_gap = src_gap;
  c.dst_gap = dst_gap;
  copy(b_, site_, c);
}

AtcLocal part(const AtcLocal& t, std::int64_t bytes) {
  AtcLocal p = t;
  p.offset += static_cast<std::uint32_t>(bytes);
  p.bytes -= std::min(p.bytes, static_cast<std::uint32_t>(bytes));
  return p;
}

void MatrixLoads::load_l1(const Operand& o, const AtcLocal& to, std::int64_t row, std::int64_t rows,
                          std::int64_t col, std::int64_t cols) {
  const AtcMatrix& x = *o.x;
  const std::int64_t group = o.turned ? o.side : round_up(rows, kEdge);
  const std::int64_t slabs = o.slabs(cols), group_bytes = group * slabs * kRow;
  if (x.format == ATC_MATRIX_ND && x.at.is_gm != 0) {
    const std::int64_t full = o.turned ? rows / group : 0, tail = rows - full * group;
    to_nz(moved(x.at, (row * x.pitch + col) * o.size), to, x.type, full, group, cols, x.pitch, group,
          slabs * group * o.c0);
    to_nz(moved(x.at, ((row + full * group) * x.pitch + col) * o.size), part(to, full * group_bytes), x.type,
          1, tail, cols, x.pitch, group, 0);
    return;
  }
  const std::int64_t real = ceil_div(cols, o.c0);
  for (std::int64_t g = 0; g * group < rows; ++g) {
    const std::int64_t first = row + g * group, n = std::min(group, rows - g * group);
    const AtcLocal at = part(to, g * group_bytes);
    if (x.format == ATC_MATRIX_NZ) {
      const std::int64_t whole = round_up(n, kEdge);
      blocks(moved(x.at, (col / o.c0 * x.pitch + first) * kRow), at, x.type, real, whole * kRow,
             (x.pitch - whole) * kRow, (group - whole) * kRow);
    } else {
      // Rows in the Unified Buffer: a column of blocks at a time.
      for (std::int64_t s = 0; s < real; ++s)
        blocks(moved(x.at, (first * x.pitch + col) * o.size + s * kRow), part(at, s * group * kRow), x.type,
               n, kRow, x.pitch * o.size - kRow, 0);
    }
  }
}

void MatrixLoads::load(const AtcLocal& to, const AtcLocal& from, const Operand& o, std::int64_t start,
                       std::int64_t repeat, std::int64_t stride, std::int64_t gap, std::int64_t fractal_gap) {
  for (std::int64_t done = 0; done < repeat; done += kMaxRepeat) {
    AtcLoad2d l{};
    l.dst = part(to, done * (1 + gap) * kFractal);
    l.src = from;
    l.type = o.x->type;
    l.transpose = l.square = o.turned;
    l.start = static_cast<std::int32_t>(start + done * stride);
    l.repeat = static_cast<std::int32_t>(std::min(repeat - done, kMaxRepeat));
    l.src_stride = static_cast<std::int32_t>(stride);
    l.dst_gap = static_cast<std::int32_t>(gap);
    l.dst_fractal_gap = static_cast<std::int32_t>(fractal_gap);
    load2d(b_, site_, l);
  }
}
// A block with a second fractal that nobody needs is written over by the next one.
void MatrixLoads::overwrite() { b_.pipes.barrier(Pipe::MTE1); }

void MatrixLoads::load_a(const Operand& o, const AtcLocal& to, const AtcLocal& from, std::int64_t m,
                         std::int64_t k, std::int64_t rows16) {
  const std::int64_t mf = ceil_div(m, kEdge), kf = ceil_div(k, o.c0);
  if (!o.turned) {
    for (std::int64_t i = 0; i < mf; ++i)
      load(part(to, i * kf * kFractal), from, o, i, kf, rows16 / kEdge, 0, 0);
    return;
  }
  const std::int64_t groups = ceil_div(k, o.side), across = o.slabs(m) * o.c0 / o.side;
  const std::int64_t high = o.side / kEdge;  // fractals of a block along m
  for (std::int64_t i = 0; i < ceil_div(m, o.side); ++i) {
    if (o.size != 2 && i > 0) overwrite();
    load(part(to, i * high * kf * kFractal), from, o, i, groups, across, o.size == 4 ? 1 : 0,
         o.size == 1 ? kf - 1 : 0);
  }
}

void MatrixLoads::load_b(const Operand& o, const AtcLocal& to, const AtcLocal& from, std::int64_t k,
                         std::int64_t n, std::int64_t rows16) {
  const std::int64_t nf = ceil_div(n, kEdge), kf = ceil_div(k, o.c0);
  if (!o.turned) {
    for (std::int64_t i = 0; i < kf; ++i)
      load(part(to, i * nf * kFractal), from, o, i * (rows16 / kEdge), nf, 1, 0, 0);
    return;
  }
  const std::int64_t groups = ceil_div(k, o.side), across = o.slabs(n) * o.c0 / o.side;
  const std::int64_t deep = o.side / o.c0;  // fractals of a block along k
  for (std::int64_t i = 0; i < groups; ++i) {
    if (o.size != 2 && i > 0) overwrite();
    load(part(to, i * std::max<std::int64_t>(deep, 1) * nf * kFractal), from, o, i * across,
         ceil_div(n, o.side), 1, o.size == 1 ? 1 : 0, o.size == 4 ? nf - 1 : 0);
  }
}

}  // namespace atc::ascendc
