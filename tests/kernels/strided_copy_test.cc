#include "kernels/strided_copy.h"

#include <gtest/gtest.h>

#include "harness.h"

namespace atc::kernels {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using aicore::Values;

Dims row_major(const Dims& dims) {
  Dims out(dims.size());
  std::int64_t s = 1;
  for (std::size_t d = dims.size(); d-- > 0; s *= dims[d]) out[d] = s;
  return out;
}

/// One element at a time, straight from the definition.
void reference(const CopySpec& spec, Memory& m, const std::vector<Operand>& operands) {
  const std::size_t e = static_cast<std::size_t>(spec.element_bytes);
  for (const CopySegment& s : spec.segments) {
    const std::int64_t count = element_count(s.dims);
    for (std::int64_t p = 0; p < count; ++p) {
      std::int64_t from = s.src_offset, to = s.dst_offset, rest = p;
      for (std::size_t d = s.dims.size(); d-- > 0; rest /= s.dims[d]) {
        const std::int64_t i = rest % s.dims[d];
        if (s.src >= 0) from += i * s.src_strides[d];
        to += i * s.dst_strides[d];
      }
      auto place = [&](int operand, std::int64_t at) {
        const Operand& o = operands[static_cast<std::size_t>(operand)];
        return m[o.tensor].data() + o.offset + at * static_cast<std::int64_t>(e);
      };
      const void* value = s.src >= 0 ? static_cast<const void*>(place(s.src, from)) : &s.fill_bits;
      std::memcpy(place(s.dst, to), value, e);
    }
  }
}

DType dtype_of(int e) { return e == 1 ? DType::U8 : e == 2 ? DType::F16 : e == 4 ? DType::F32 : DType::I64; }

int add_random(Memory& m, std::int64_t elements, int e, std::mt19937& rng) {
  const int t = m.add(static_cast<std::size_t>(std::max<std::int64_t>(elements, 1) * e));
  for (std::byte& b : m[t]) b = static_cast<std::byte>(rng());
  return t;
}

void expect_copies(const CopySpec& spec, Memory m, const std::vector<Operand>& operands,
                   const std::string& what, std::string_view soc = "Ascend910B3") {
  Memory expected = m;
  reference(spec, expected, operands);
  auto task = make_strided_copy(spec, operands, chip(soc));
  ASSERT_TRUE(task.ok()) << what << ": " << task.status().to_string();
  ASSERT_EQ(check_modes(prepare_strided_copy, *task, chip(soc), m), "") << what;
  ASSERT_TRUE(m == expected) << what;
}

/// dims[d] of the source become axis perm[d]'s place of the destination.
CopySegment transposed(const Dims& dims, const std::vector<std::size_t>& perm) {
  CopySegment s;
  const Dims from = row_major(dims);
  for (std::size_t p : perm) {
    s.dims.push_back(dims[p]);
    s.src_strides.push_back(from[p]);
  }
  s.dst_strides = row_major(s.dims);
  return s;
}

void expect_transposes(const Dims& dims, const std::vector<std::size_t>& perm, int e, std::mt19937& rng) {
  Memory m;
  const int src = add_random(m, element_count(dims), e, rng);
  const int dst = m.add(m[src].size());
  std::string what = "transpose of " + to_string(dims) + " e" + std::to_string(e) + " by";
  for (std::size_t p : perm) what += " " + std::to_string(p);
  expect_copies({e, {transposed(dims, perm)}}, m,
                {m.operand(src, dtype_of(e)), m.operand(dst, dtype_of(e), true)}, what);
}

TEST(StridedCopy, Transposes) {
  std::mt19937 rng(1);
  for (int e : {1, 2, 4, 8}) {
    expect_transposes({64, 64}, {1, 0}, e, rng);
    expect_transposes({1000, 3}, {1, 0}, e, rng);
    expect_transposes({3, 1000}, {1, 0}, e, rng);
    expect_transposes({130, 257}, {1, 0}, e, rng);
    expect_transposes({2, 17, 12, 64}, {0, 2, 1, 3}, e, rng);
    expect_transposes({2, 12, 17, 64}, {0, 1, 3, 2}, e, rng);
    expect_transposes({2, 5, 9, 33}, {0, 2, 3, 1}, e, rng);
    expect_transposes({2, 9, 33, 5}, {0, 3, 1, 2}, e, rng);
    expect_transposes({4, 3, 2, 5, 7, 2}, {5, 1, 3, 0, 4, 2}, e, rng);
  }
}

TEST(StridedCopy, RandomTransposes) {
  std::mt19937 rng(2);
  for (int i = 0; i < 150; ++i) {
    const std::size_t rank = 1 + rng() % 6;
    Dims dims;
    std::vector<std::size_t> perm;
    for (std::size_t d = 0; d < rank; ++d) {
      dims.push_back(1 + static_cast<std::int64_t>(rng() % (rank > 4 ? 7 : rank > 3 ? 12 : 40)));
      perm.push_back(d);
    }
    std::shuffle(perm.begin(), perm.end(), rng);
    expect_transposes(dims, perm, 1 << rng() % 4, rng);
  }
}

TEST(StridedCopy, SlicesStepsBackwardsAndBroadcasts) {
  std::mt19937 rng(3);
  for (int i = 0; i < 200; ++i) {
    const int e = 1 << rng() % 4;
    const std::size_t rank = 1 + rng() % 4;
    CopySegment s;
    Dims source;
    for (std::size_t d = 0; d < rank; ++d) source.push_back(1 + static_cast<std::int64_t>(rng() % 33));
    const Dims strides = row_major(source);
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t step = 1 + static_cast<std::int64_t>(rng() % 20 < 12 ? 0 : rng() % 20);
      const std::int64_t n = (source[d] - 1) / step + 1;
      switch (rng() % 4) {
        case 0:  // backwards
          s.dims.push_back(n);
          s.src_strides.push_back(-strides[d] * step);
          s.src_offset += (n - 1) * step * strides[d];
          break;
        case 1:  // repeated
          s.dims.push_back(1 + static_cast<std::int64_t>(rng() % 20));
          s.src_strides.push_back(0);
          s.src_offset +=
              static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(source[d])) * strides[d];
          break;
        default:
          s.dims.push_back(n);
          s.src_strides.push_back(strides[d] * step);
      }
    }
    s.dst_strides = row_major(s.dims);
    Memory m;
    const int src = add_random(m, element_count(source), e, rng);
    const int dst = m.add(static_cast<std::size_t>(element_count(s.dims) * e));
    expect_copies({e, {s}}, m, {m.operand(src, dtype_of(e)), m.operand(dst, dtype_of(e), true)},
                  "case " + std::to_string(i) + " of " + to_string(source) + " to " + to_string(s.dims));
    // Back again: the destination strides, also backwards.
    CopySegment back = s;
    for (std::size_t d = 0; d < rank; ++d)
      if (back.src_strides[d] == 0) back.dims[d] = 1;
    back.src_strides = s.dst_strides;
    back.dst_strides = s.src_strides;
    std::swap(back.src_offset, back.dst_offset);
    Memory n;
    const int from = add_random(n, element_count(s.dims), e, rng);
    const int to = n.add(static_cast<std::size_t>(element_count(source) * e));
    expect_copies({e, {back}}, n, {n.operand(from, dtype_of(e)), n.operand(to, dtype_of(e), true)},
                  "back, case " + std::to_string(i));
  }
}

TEST(StridedCopy, ConcatPadAndSplitOffsets) {
  std::mt19937 rng(4);
  Memory m;
  const int a = add_random(m, 5 * 7 * 11, 4, rng), b = add_random(m, 5 * 1 * 11, 4, rng),
            c = m.add(5 * 10 * 11 * 4);
  CopySpec spec;
  spec.element_bytes = 4;
  spec.segments.push_back({0, 2, {5, 7, 11}, 0, {77, 11, 1}, 0, {110, 11, 1}, 0});
  spec.segments.push_back({1, 2, {5, 1, 11}, 0, {11, 11, 1}, 77, {110, 11, 1}, 0});
  spec.segments.push_back({-1, 2, {5, 2, 11}, 0, {}, 88, {110, 11, 1}, 0x3f800000});
  spec.segments.push_back({-1, 2, {5, 0, 11}, 0, {}, 88, {110, 11, 1}, 0x3f800000});
  expect_copies(spec, m, {m.operand(a, DType::F32), m.operand(b, DType::F32), m.operand(c, DType::F32, true)},
                "concat");
}

/// NCHW to NC1HWC0 and back; the last block has `c % 16` lanes.
TEST(StridedCopy, ConvertsToC0BlocksAndBack) {
  std::mt19937 rng(5);
  struct Case {
    std::int64_t n, c, hw;
  };
  for (const Case& t :
       {Case{2, 3, 50}, Case{1, 16, 49}, Case{2, 40, 33}, Case{1, 64, 1}, Case{1, 3, 4096}, Case{1, 1, 7}}) {
    for (int e : {2, 4}) {
      const std::int64_t c1 = (t.c + 15) / 16, whole = t.c / 16, rest = t.c % 16;
      Memory m;
      const int nchw = add_random(m, t.n * t.c * t.hw, e, rng);
      const int blocked = m.add(static_cast<std::size_t>(t.n * c1 * t.hw * 16 * e));
      const int again = m.add(m[nchw].size());
      CopySpec to{e, {}}, back{e, {}};
      to.segments.push_back({0,
                             1,
                             {t.n, whole, t.hw, 16},
                             0,
                             {t.c * t.hw, 16 * t.hw, 1, t.hw},
                             0,
                             {c1 * t.hw * 16, t.hw * 16, 16, 1},
                             0});
      if (rest != 0) {
        to.segments.push_back({0,
                               1,
                               {t.n, t.hw, rest},
                               whole * 16 * t.hw,
                               {t.c * t.hw, 1, t.hw},
                               whole * t.hw * 16,
                               {c1 * t.hw * 16, 16, 1},
                               0});
        to.segments.push_back(
            {-1, 1, {t.n, t.hw, 16 - rest}, 0, {}, whole * t.hw * 16 + rest, {c1 * t.hw * 16, 16, 1}, 0});
      }
      const std::vector<Operand> operands = {m.operand(nchw, dtype_of(e)),
                                             m.operand(blocked, dtype_of(e), true)};
      expect_copies(to, m, operands, "to blocks");
      reference(to, m, operands);
      for (CopySegment s : to.segments) {
        if (s.src < 0) continue;
        std::swap(s.src_offset, s.dst_offset);
        std::swap(s.src_strides, s.dst_strides);
        back.segments.push_back(s);
      }
      const std::vector<Operand> reverse = {m.operand(blocked, dtype_of(e)),
                                            m.operand(again, dtype_of(e), true)};
      expect_copies(back, m, reverse, "from blocks", "Ascend310P3");
      reference(back, m, reverse);
      EXPECT_EQ(m[again], m[nchw]);
    }
  }
}

// The part with the largest load buffer is not the one with the largest store buffer; they share one set.
TEST(StridedCopy, PartsOfDifferentKindsShareTheBuffers) {
  std::mt19937 rng(77);
  for (const char* soc : {"Ascend910B3", "Ascend310P3"})
    for (const int e : {2, 4}) {
      CopySpec spec{e, {transposed({1200, 900}, {1, 0})}};
      const std::int64_t turned = 1200 * 900, straight = 1 << 20;
      CopySegment rest;
      rest.dims = {straight};
      rest.src_strides = rest.dst_strides = {1};
      rest.dst_offset = turned;
      spec.segments.push_back(rest);
      Memory m;
      const int src = add_random(m, turned, e, rng);
      const int dst = m.add(static_cast<std::size_t>((turned + straight) * e));
      expect_copies(spec, m, {m.operand(src, dtype_of(e)), m.operand(dst, dtype_of(e), true)}, soc, soc);
    }
}

TEST(StridedCopy, UsesTheCoresAndKeepsTilesSmall) {
  Memory m;
  const int src = m.add(1 << 20), dst = m.add(1 << 20);
  auto task = make_strided_copy({4, {transposed({512, 512}, {1, 0})}},
                                {m.operand(src, DType::F32), m.operand(dst, DType::F32, true)}, chip());
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(task->blocks(), chip().vector_blocks());
}

TEST(StridedCopy, OperandsStartAtTheirOffset) {
  std::mt19937 rng(6);
  Memory m;
  const int src = add_random(m, 300, 4, rng), dst = m.add(1200);
  Operand from = m.operand(src, DType::F32), to = m.operand(dst, DType::F32, true);
  from.offset = 40, from.bytes = 400;
  to.offset = 64, to.bytes = 400;
  expect_copies({4, {transposed({10, 10}, {1, 0})}}, m, {from, to}, "offsets");
}

Task good_task(Memory& m) {
  std::mt19937 rng(7);
  const int src = add_random(m, 60 * 70, 4, rng), dst = m.add(60 * 71 * 4);
  CopySpec spec{4, {transposed({60, 70}, {1, 0})}};
  spec.segments.push_back({-1, 1, {60}, 0, {}, 4200, {1}, 7});
  auto task = make_strided_copy(spec, {m.operand(src, DType::F32), m.operand(dst, DType::F32, true)}, chip());
  return std::move(task).value();
}

TEST(StridedCopy, RefusesWhatLeavesItsOperands) {
  Memory m;
  const int src = m.add(400), dst = m.add(400);
  const std::vector<Operand> operands = {m.operand(src, DType::F32), m.operand(dst, DType::F32, true)};
  auto status = [&](CopySegment s) {
    return make_strided_copy({4, {std::move(s)}}, operands, chip()).status().to_string();
  };
  EXPECT_EQ(status({0, 1, {100}, 0, {1}, 0, {1}, 0}), "");
  EXPECT_NE(status({0, 1, {100}, 1, {1}, 0, {1}, 0}).find("leaves its source"), std::string::npos);
  EXPECT_NE(status({0, 1, {100}, 0, {1}, 1, {1}, 0}).find("leaves its destination"), std::string::npos);
  EXPECT_NE(status({0, 1, {100}, 0, {-1}, 0, {1}, 0}).find("leaves its source"), std::string::npos);
  EXPECT_NE(status({0, 1, {100}, 0, {INT64_MAX}, 0, {1}, 0}).find("leaves its source"), std::string::npos);
  EXPECT_NE(status({0, 1, {100}, 0, {0}, 0, {0}, 0}).find("twice"), std::string::npos);
  EXPECT_NE(status({0, 2, {100}, 0, {1}, 0, {1}, 0}).find("does not exist"), std::string::npos);
  EXPECT_NE(status({0, 0, {100}, 0, {1}, 0, {1}, 0}).find("writes to an input"), std::string::npos);
  EXPECT_NE(status({0, 1, {INT64_MAX, 8}, 0, {1, 1}, 0, {1, 1}, 0}).find("out of range"), std::string::npos);
}

TEST(StridedCopy, CorruptParametersNeverCrash) {
  Memory m;
  const Task task = good_task(m);
  EXPECT_GT(fuzz_params(prepare_strided_copy, task, chip(), m, 3000, 8), 500);
}

TEST(StridedCopy, TileBeyondUbIsAnInternalError) {
  std::mt19937 rng(9);
  Memory m;
  const int src = add_random(m, 512 * 512, 4, rng), dst = m.add(512 * 512 * 4);
  auto task = make_strided_copy({4, {transposed({512, 512}, {1, 0})}},
                                {m.operand(src, DType::F32), m.operand(dst, DType::F32, true)}, chip());
  ASSERT_TRUE(task.ok());
  // element bytes, parts, src, dst, fill, offsets, rank 2, dims, rank 2, tile...
  ASSERT_EQ(task->params[7], 2);
  ASSERT_EQ(task->params[10], 2);
  task->params[11] = task->params[12] = 512;
  task->block_tiles = {0, 1};
  try {
    run_task(prepare_strided_copy, *task, chip(), m, Values::Literal);
    FAIL() << "a tile of 1 MiB went into UB";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("UB overflow"), std::string::npos) << e.what();
  }
}

TEST(StridedCopy, BlocksDecideWhatIsWritten) {
  Memory m;
  Task task = good_task(m);
  Memory whole = m, part = m;
  ASSERT_TRUE(run_task(prepare_strided_copy, task, chip(), whole, Values::Fast).status.ok());
  task.block_tiles.back() -= 1;
  ASSERT_TRUE(run_task(prepare_strided_copy, task, chip(), part, Values::Fast).status.ok());
  EXPECT_FALSE(whole == part);
  task.block_tiles.back() += 2;
  EXPECT_FALSE(run_task(prepare_strided_copy, task, chip(), part, Values::Fast).status.ok());
}

}  // namespace
}  // namespace atc::kernels
