// Micro-kernels of the simulated AI Core on this machine (Google Benchmark): `peak` is the share of the
// floating-point peak that the same run measures, `GB/s` what a loop moves.
#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "aicore/core.h"
#include "aicore/cube_product.h"
#include "aicore/vector_table.h"
#include "atc/base/half.h"

namespace atc::aicore {
namespace {

using Clock = std::chrono::steady_clock;
using v8 = float __attribute__((vector_size(32)));

/// Ten independent chains of fused multiply-adds, as many as hide their latency.
__attribute__((target("avx2,fma"))) double measure_peak() {
  v8 a[10], b{}, c{};
  b += 0.999f;
  c += 0.001f;
  for (v8& x : a) x = b;
  constexpr int kRounds = 1 << 20;
  double best = 0;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kRounds; ++i) {
#pragma GCC unroll 10
      for (int j = 0; j < 10; ++j) a[j] = (v8)_mm256_fmadd_ps((__m256)a[j], (__m256)b, (__m256)c);
    }
    benchmark::DoNotOptimize(a);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    best = std::max(best, 160.0 * kRounds / seconds);
  }
  return best;
}

/// Floating-point operations a second on one thread.
double peak() {
  static const double value = measure_peak();
  return value;
}

void report(benchmark::State& state, double operations) {
  const double done = operations * static_cast<double>(state.iterations());
  state.counters["GF/s"] = benchmark::Counter(done / 1e9, benchmark::Counter::kIsRate);
  state.counters["peak"] = benchmark::Counter(done / peak(), benchmark::Counter::kIsRate);
}

/// Weights of a product in the storage of `dtype`.
std::vector<std::byte> weights(DType dtype, std::size_t count) {
  std::vector<float> values(count, 0.5f);
  std::vector<std::byte> bytes(count * static_cast<std::size_t>(bit_width(dtype)) / 8);
  if (dtype == DType::F32)
    std::copy(values.begin(), values.end(), reinterpret_cast<float*>(bytes.data()));
  else
    convert(values.data(), reinterpret_cast<Half*>(bytes.data()), count);
  return bytes;
}

/// m x k times k x n, both in the form in which kernels give them to the cube.
void matrix_product(benchmark::State& state, DType dtype) {
  const std::int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const std::vector<float> a(static_cast<std::size_t>(m * k), 1.0f);
  const std::vector<std::byte> b = weights(dtype, static_cast<std::size_t>(n * k));
  std::vector<float> c(static_cast<std::size_t>(m * n));
  RowMap map;
  for (std::int64_t r = 0; r < m; ++r) map.base.push_back(r * k);
  map.tap_offset = {0};
  map.b_tap = {0};
  map.k1 = static_cast<int>(k / 16);
  map.k1_stride = 16;
  Core::CubeTile left, right;
  left.data = reinterpret_cast<const std::byte*>(a.data());
  right.data = b.data();
  right.panel_stride = k * 16;
  for (auto _ : state) {
    fast_product(reinterpret_cast<std::byte*>(c.data()), left, map, right, dtype, static_cast<int>(n / 16),
                 false, AccLayout::Rows);
    benchmark::ClobberMemory();
  }
  report(state, 2.0 * static_cast<double>(m * n * k));
}

/// All pixels of a side x side plane, `channels` in and n out, a kernel x kernel window with "same" padding.
void convolution(benchmark::State& state) {
  const std::int64_t side = state.range(0), channels = state.range(1), n = state.range(2),
                     kernel = state.range(3);
  const std::int64_t k1 = channels / 16, taps = kernel * kernel, m = side * side;
  const std::vector<float> a(static_cast<std::size_t>(m * channels), 1.0f);
  const std::vector<std::byte> b = weights(DType::F32, static_cast<std::size_t>(n * channels * taps));
  std::vector<float> c(static_cast<std::size_t>(m * n));
  RowMap map;
  for (std::int64_t r = 0; r < m; ++r) {
    map.base.push_back(r * 16);
    map.row_h.push_back(static_cast<int>(r / side));
    map.row_w.push_back(static_cast<int>(r % side));
  }
  for (std::int64_t t = 0; t < taps; ++t) {
    const std::int64_t h = t / kernel - kernel / 2, w = t % kernel - kernel / 2;
    map.tap_h.push_back(static_cast<int>(h));
    map.tap_w.push_back(static_cast<int>(w));
    map.tap_offset.push_back((h * side + w) * 16);
    map.b_tap.push_back(t);
  }
  map.height = map.width = static_cast<int>(side);
  map.k1 = static_cast<int>(k1);
  map.k1_stride = m * 16;
  map.b_k1_stride = taps;
  Core::CubeTile left, right;
  left.data = reinterpret_cast<const std::byte*>(a.data());
  right.data = b.data();
  right.panel_stride = channels * taps * 16;
  for (auto _ : state) {
    fast_product(reinterpret_cast<std::byte*>(c.data()), left, map, right, DType::F32,
                 static_cast<int>(n / 16), false, AccLayout::Panels);
    benchmark::ClobberMemory();
  }
  report(state, 2.0 * static_cast<double>(m * n * channels * taps));
}

/// An elementwise loop over a tile of 512 rows of 16 columns; `by_column`: b has one value a column.
void elementwise(benchmark::State& state, VecOp op, bool by_column) {
  constexpr std::int64_t kRows = 512, kCols = 16;
  std::vector<float> a(kRows * kCols, 0.25f), b(kRows * kCols, 0.5f), c(kRows * kCols);
  const LoopOperand first{a.data(), kCols, 1}, second{b.data(), by_column ? 0 : kCols, 1};
  for (auto _ : state) {
    vector_table().elementwise(op, RegType::F32, c.data(), first, second, {}, 0, kRows, kCols);
    benchmark::ClobberMemory();
  }
  const double bytes = kRows * kCols * 4.0 * static_cast<double>(state.iterations());
  state.counters["elements/s"] = benchmark::Counter(bytes / 4, benchmark::Counter::kIsRate);
  state.counters["GB/s"] =
      benchmark::Counter(bytes * (1 + register_operands(op)) / 1e9, benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(matrix_product, f32, DType::F32)
    ->Args({128, 256, 768})
    ->Args({48, 64, 768})
    ->Args({6, 256, 768})
    ->Args({1, 256, 768});
BENCHMARK_CAPTURE(matrix_product, f16_weights, DType::F16)->Args({128, 256, 768})->Args({1, 256, 768});
BENCHMARK(convolution)
    ->ArgNames({"side", "in", "out", "kernel"})
    ->Args({28, 128, 128, 3})
    ->Args({7, 512, 128, 3})
    ->Args({14, 1024, 128, 1})
    ->Args({14, 16, 16, 3});
BENCHMARK_CAPTURE(elementwise, add, VecOp::Add, false);
BENCHMARK_CAPTURE(elementwise, add_by_column, VecOp::Add, true);
BENCHMARK_CAPTURE(elementwise, relu, VecOp::Relu, false);
BENCHMARK_CAPTURE(elementwise, exp, VecOp::Exp, false);
BENCHMARK_CAPTURE(elementwise, sigmoid, VecOp::Sigmoid, false);
BENCHMARK_CAPTURE(elementwise, erf, VecOp::Erf, false);

}  // namespace
}  // namespace atc::aicore

BENCHMARK_MAIN();
