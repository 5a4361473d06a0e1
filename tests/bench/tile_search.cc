// How good the tiles are that the search chooses for cube tasks.
//   tile_search [--exhaustive] [--pipes]
// For the matrix products and convolutions of ResNet-50, BERT base and LLaMA-2-7B prefill at batch 16 on two
// chips: simulated cycles of the longest core beside a bound that no tiling can beat, and (--exhaustive)
// beside the best of all plans, each of them simulated. Launch is not counted. Prints the geometric means and
// the five worst. Exits with 1 when a chosen plan is worse than the best. --pipes: also how busy each pipe of
// the longest core is, per cent.
//
// The bound: the longest of what the cube takes (whole fractals, the best integer split over the cores), what
// memory takes for every byte once, and what each other pipe of a core takes for its own rows, columns and
// results; with one fill (the first slice of both operands) and one drain (the last rows of the chosen tile).
// Of the pipes: MTE2 brings the core's operands and on split cores the accumulators back from L2 (to two
// vector cores), MTE3 writes the results, FIX or without Fixpipe V moves the accumulators, and V does the
// epilogue's passes. All of these count bytes and elements only, no start of an instruction.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/cube_conv_tiling.h"
#include "kernels/cube_matmul_tiling.h"
#include "kernels/kernel_list.h"

namespace atc::kernels {
namespace {

struct Shape {
  std::string name;
  // A product: m, k, n. A convolution of 2-D planes: channels k to n, `kernel`, `stride`, input edge `in`.
  std::int64_t m = 0, k = 0, n = 0;
  std::int64_t kernel = 0, stride = 1, in = 0;
};

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  const auto conv = [&](std::int64_t k, std::int64_t n, std::int64_t kernel, std::int64_t stride,
                        std::int64_t in) {
    out.push_back({"resnet50 " + std::to_string(kernel) + "x" + std::to_string(kernel) + "/" +
                       std::to_string(stride) + " " + std::to_string(k) + "->" + std::to_string(n) + " @" +
                       std::to_string(in),
                   0, k, n, kernel, stride, in});
  };
  conv(3, 64, 7, 2, 224);
  std::int64_t in = 56, width = 64, from = 64;
  for (int stage = 0; stage < 4; ++stage, width *= 2) {
    const std::int64_t stride = stage == 0 ? 1 : 2;
    conv(from, width, 1, 1, in);
    conv(width, width, 3, stride, in);
    conv(from, width * 4, 1, stride, in);
    in /= stride;
    conv(width, width * 4, 1, 1, in);
    conv(width * 4, width, 1, 1, in);
    conv(width, width, 3, 1, in);
    from = width * 4;
  }
  const auto gemm = [&](const char* name, std::int64_t m, std::int64_t k, std::int64_t n) {
    out.push_back(
        {std::string(name) + " " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n), m,
         k, n});
  };
  gemm("resnet50 fc", 16, 2048, 1000);
  constexpr std::int64_t kTokens = 16 * 128;
  gemm("bert qkv", kTokens, 768, 768);
  gemm("bert up", kTokens, 768, 3072);
  gemm("bert down", kTokens, 3072, 768);
  gemm("llama qkv", kTokens, 4096, 4096);
  gemm("llama up", kTokens, 4096, 11008);
  gemm("llama down", kTokens, 11008, 4096);
  gemm("llama head", 16, 4096, 32000);
  return out;
}

constexpr std::int64_t kBatch = 16;

// Acc -> Max(0) -> Store, and the store's operand.
VectorProgram relu() {
  VectorProgram p;
  const int acc = p.emit(VecOp::Acc, RegType::F32);
  p.store(0, RegType::F32, p.emit(VecOp::Relu, RegType::F32, acc));
  return p;
}

struct Chosen {
  CubePlan plan;        // of the task
  CubePlan best_plan;   // of all of them
  aicore::Stats stats;  // of the longest block
  std::int64_t cycles = 0, best = 0, plans = 0;
  double bound = 0;
  bool cube_bound = false;
};

/// Sizes that the bound needs.
struct Work {
  std::int64_t row_fractals, panels, k_fractals;  // of all batches
  double a_bytes, b_bytes, out_bytes;
  double out_elements, vector_passes;
};

double bytes(std::int64_t n) { return static_cast<double>(n); }

double bound_of(const Work& w, const CubePlan& plan, const soc::Chip& chip, bool& cube_bound) {
  const double gm = chip.gm_mbps / static_cast<double>(chip.cube_mhz);  // bytes a cycle
  double best = 1e30;
  // Activations of at most half of L2 are there or stay there.
  const double near = static_cast<double>(chip.l2) / 2;
  const double far_in = w.b_bytes + (w.a_bytes > near ? w.a_bytes : 0);
  const double far_out = w.out_bytes > near ? w.out_bytes : 0;
  for (std::int64_t p = 1; p <= chip.cube_cores; ++p) {
    const std::int64_t q = chip.cube_cores / p;
    const std::int64_t rows = ceil_div(w.row_fractals, p), panels = ceil_div(w.panels, q);
    const double cube = static_cast<double>(rows * panels * w.k_fractals);
    const double row_share = static_cast<double>(rows) / static_cast<double>(w.row_fractals);
    const double panel_share = static_cast<double>(panels) / static_cast<double>(w.panels);
    const double accumulators = 4 * w.out_elements * row_share * panel_share;  // bytes
    const double fetched = chip.split ? accumulators / (2 * chip.l2_read) : 0;
    const double in = (w.a_bytes * row_share + w.b_bytes * panel_share) / chip.l2_read + fetched;
    const double fixpipe = accumulators / chip.l0c_out;
    const double passes = accumulators / chip.vector_bytes * w.vector_passes;
    const double vector = chip.fixpipe ? std::max(fixpipe, passes) : fixpipe + passes;
    const double out = w.out_bytes * row_share * panel_share / chip.ub_write_l2;
    const double cores = static_cast<double>(std::min(w.row_fractals, p) * std::min(w.panels, q));
    const double memory = std::max({far_in / gm, far_out / gm, far_in / cores / chip.ddr_read});
    const double longest = std::max({cube, in, out, vector, memory});
    if (longest >= best) continue;
    best = longest;
    cube_bound = cube >= longest;
  }
  const CubeTileSize& t = plan.tile;
  const double slice = 32.0 * t.k_slice * (t.m + t.panels * 16.0);
  const double fill = 2 * 33 + slice / chip.l2_read + t.m * 32.0 * t.k_slice / chip.l1_to_l0a +
                      t.panels * 512.0 * t.k_slice / chip.l1_to_l0b;
  const double last = static_cast<double>(std::min<std::int64_t>(plan.ub_rows, t.m)) * 16;
  return best + fill + last * 4 / chip.l0c_out + last * 8 / chip.vector_bytes + 33 +
         last * 2 / chip.ub_write_l2;
}

void measure(const Task& task, const soc::Chip& chip, Chosen& c) {
  const KernelDef* def = find_kernel(task.kernel);
  auto kernel = def->prepare(task, chip);
  std::vector<aicore::Gm> gm;
  for (const Operand& o : task.operands)
    gm.push_back({nullptr, o.bytes, false, o.bytes <= chip.l2 / 2 ? 0 : 1000});
  gm[0].ddr_permille = c.plan.a_far;
  gm[1].ddr_permille = c.plan.b_far;
  aicore::Core core(chip, aicore::Values::None, true);
  for (int b = 0; b < task.blocks(); ++b) {
    core.start_block(task.blocks());
    (*kernel)->run(core, gm, task.block_tiles[static_cast<std::size_t>(b)],
                   task.block_tiles[static_cast<std::size_t>(b) + 1]);
    if (const aicore::Stats stats = core.stats(); stats.cycles > c.cycles) {
      c.cycles = stats.cycles;
      c.stats = stats;
    }
  }
}

// Plans of the exhaustive search, simulated; the chosen one is among them.
template <class Simulate>
void exhaust(Chosen& c, const std::vector<CubePlan>& plans, Simulate simulate) {
  c.plans = static_cast<std::int64_t>(plans.size());
  for (const CubePlan& p : plans) {
    const std::int64_t cycles = simulate(p);
    if (c.best != 0 && cycles >= c.best) continue;
    c.best = cycles;
    c.best_plan = p;
  }
}

Chosen product(const Shape& s, const soc::Chip& chip, bool exhaustive) {
  const std::int64_t k1 = ceil_div(s.k, 16), n1 = ceil_div(s.n, 16);
  MatMulSpec spec;
  spec.m = s.m;
  spec.k = s.k;
  spec.n = s.n;
  spec.a = {0, {}, s.k, 1};
  spec.b = {0, {}, 0, 1};
  spec.epilogue_operands = {{0, {}, s.n, 1}};
  spec.epilogue = relu();
  const std::vector<Operand> operands = {{0, 0, s.m * s.k * 2, DType::F16, false},
                                         {1, 0, k1 * n1 * 512, DType::F16, false},
                                         {2, 0, s.m * s.n * 2, DType::F16, true}};
  Chosen c;
  const TileProgram epilogue = *matmul_epilogue(spec, operands);
  MatMulTiling t;
  t.spec = spec;
  const auto simulate = [&](const CubePlan& p) {
    const MatMulTiling candidate = t.with(p);
    return longest_block(*matmul_kernel(candidate, epilogue, DType::F16), p, candidate.tiles(), operands,
                         chip);
  };
  c.plan = best_plan(matmul_plans(spec, epilogue, operands, chip), kFinalists, simulate);
  measure(pack_matmul(t.with(c.plan), operands, chip), chip, c);
  if (exhaustive) exhaust(c, matmul_plans(spec, epilogue, operands, chip, false), simulate);
  c.bound =
      bound_of({ceil_div(s.m, 16), n1, k1, bytes(s.m * s.k * 2), bytes(k1 * n1 * 512), bytes(s.m * s.n * 2),
                bytes(s.m * s.n), bytes(epilogue_problem(epilogue, operands).vector_passes)},
               c.plan, chip, c.cube_bound);
  return c;
}

Chosen convolution(const Shape& s, const soc::Chip& chip, bool exhaustive) {
  const std::int64_t k1 = ceil_div(s.k, 16), n1 = ceil_div(s.n, 16), pad = s.kernel / 2;
  const std::int64_t out = (s.in + 2 * pad - s.kernel) / s.stride + 1, taps = s.kernel * s.kernel;
  ConvSpec spec;
  spec.batch = kBatch;
  spec.k1 = k1;
  spec.k_last = s.k - (k1 - 1) * 16;
  spec.n1 = n1;
  spec.taps = taps;
  spec.in = {1, s.in, s.in};
  spec.in_stride = {1, s.stride, s.stride};
  ConvPhase phase;
  phase.count = {1, out, out};
  for (std::int64_t h = 0; h < s.kernel; ++h)
    for (std::int64_t w = 0; w < s.kernel; ++w)
      phase.taps.push_back({h * s.kernel + w, {0, h - pad, w - pad}});
  spec.phases = {phase};
  ConvAddress address;
  address.w = 16;
  address.h = out * 16;
  address.d = address.c1 = out * out * 16;
  address.n = n1 * address.c1;
  address.lane = 1;
  spec.epilogue_operands = {address};
  spec.epilogue = relu();
  const std::int64_t in_bytes = kBatch * k1 * s.in * s.in * 32, out_bytes = kBatch * n1 * out * out * 32;
  const std::vector<Operand> operands = {{0, 0, in_bytes, DType::F16, false},
                                         {1, 0, n1 * k1 * taps * 512, DType::F16, false},
                                         {2, 0, out_bytes, DType::F16, true}};
  Chosen c;
  const ConvTiling t = conv_tiling(spec);
  const TileProgram epilogue = *conv_epilogue(t, operands);
  const auto simulate = [&](const CubePlan& p) {
    const ConvTiling candidate = t.with(p, 2);
    return longest_block(*conv_kernel(candidate, epilogue, DType::F16), p, candidate.tiles(), operands, chip);
  };
  c.plan = best_plan(conv_plans(t, epilogue, operands, chip), kFinalists, simulate);
  measure(pack_conv(t.with(c.plan, 2), operands, chip), chip, c);
  if (exhaustive) exhaust(c, conv_plans(t, epilogue, operands, chip, false), simulate);
  // A stride wider than the kernel leaves pixels out, in whole rows only.
  const double read = s.kernel < s.stride ? static_cast<double>(in_bytes) * static_cast<double>(s.kernel) /
                                                static_cast<double>(s.stride)
                                          : static_cast<double>(in_bytes);
  c.bound = bound_of(
      {kBatch * ceil_div(out * out, 16), n1, k1 * taps, read, bytes(n1 * k1 * taps * 512), bytes(out_bytes),
       bytes(kBatch * out * out * s.n), bytes(epilogue_problem(epilogue, operands).vector_passes)},
      c.plan, chip, c.cube_bound);
  return c;
}

int run(bool exhaustive, bool pipes) {
  struct Row {
    std::string text;
    double ratio;
  };
  std::vector<Row> rows;
  double logs[2] = {0, 0};
  int counts[2] = {0, 0};
  bool optimal = true;
  std::printf("%-12s %-32s %7s %5s %7s %4s %4s %4s %9s %9s %6s %-5s%s\n", "chip", "shape", "rows", "cols",
              "k_chunk", "a", "b", "l0c", "cycles", "bound", "ratio", "by",
              exhaustive ? "  best    plans" : "");
  for (const char* soc : {"Ascend310P3", "Ascend910B3"}) {
    const soc::Chip& chip = **soc::find_chip(soc);
    for (const Shape& s : shapes()) {
      const Chosen c = s.kernel == 0 ? product(s, chip, exhaustive) : convolution(s, chip, exhaustive);
      const double ratio = static_cast<double>(c.cycles) / c.bound;
      char line[256];
      std::snprintf(line, sizeof line, "%-12s %-32s %7d %5d %7lld %4d %4d %3d%s %9lld %9.0f %6.3f %-5s", soc,
                    s.name.c_str(), c.plan.tile.m, c.plan.tile.panels * 16,
                    static_cast<long long>(c.plan.k_chunk), c.plan.a_buffers, c.plan.b_buffers,
                    c.plan.l0c_buffers, c.plan.rows_inner ? "r" : " ", static_cast<long long>(c.cycles),
                    c.bound, ratio, c.cube_bound ? "cube" : "bytes");
      std::string text = line;
      if (exhaustive) {
        std::snprintf(line, sizeof line, " %6.3f %7lld",
                      static_cast<double>(c.plan.cycles) / static_cast<double>(c.best),
                      static_cast<long long>(c.plans));
        text += line;
        if (c.plan.cycles > c.best) {
          const CubePlan& b = c.best_plan;
          std::snprintf(line, sizeof line,
                        "  better: %d x %d, k_chunk %lld, buffers %d %d %d%s, estimate %.3f", b.tile.m,
                        b.tile.panels * 16, static_cast<long long>(b.k_chunk), b.a_buffers, b.b_buffers,
                        b.l0c_buffers, b.rows_inner ? "r" : "",
                        static_cast<double>(b.cycles) / static_cast<double>(c.best));
          text += line;
        }
        optimal = optimal && c.plan.cycles <= c.best;
      }
      if (pipes)
        for (std::size_t p = 0; p < c.stats.busy.size(); ++p) {
          std::snprintf(line, sizeof line, " %s %lld",
                        std::string(name(static_cast<aicore::Pipe>(p))).c_str(),
                        static_cast<long long>(100 * c.stats.busy[p] / c.stats.cycles));
          text += line;
        }
      std::printf("%s\n", text.c_str());
      std::fflush(stdout);
      rows.push_back({text, ratio});
      logs[c.cube_bound ? 1 : 0] += std::log(ratio);
      ++counts[c.cube_bound ? 1 : 0];
    }
  }
  for (const int cube : {1, 0})
    if (counts[cube] > 0)
      std::printf("%s: %d tasks, geometric mean of cycles / bound %.3f\n",
                  cube ? "cube-bound" : "bandwidth-bound", counts[cube], std::exp(logs[cube] / counts[cube]));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.ratio > b.ratio; });
  std::printf("worst:\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(5, rows.size()); ++i)
    std::printf("%s\n", rows[i].text.c_str());
  return optimal ? 0 : 1;
}

}  // namespace
}  // namespace atc::kernels

int main(int argc, char** argv) {
  bool exhaustive = false, pipes = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--exhaustive") == 0) {
      exhaustive = true;
    } else if (std::strcmp(argv[i], "--pipes") == 0) {
      pipes = true;
    } else {
      std::fprintf(stderr, "usage: tile_search [--exhaustive] [--pipes]\n");
      return 2;
    }
  }
  return atc::kernels::run(exhaustive, pipes);
}
