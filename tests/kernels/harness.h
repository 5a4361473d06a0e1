#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "aicore/core.h"
#include "atc/base/half.h"
#include "atc/base/tensor.h"
#include "kernels/kernel_list.h"
#include "kernels/task.h"
#include "soc/chip.h"

namespace atc::kernels::testing {

using Prepare = PrepareResult (*)(const Task&, const soc::Chip&);

inline const soc::Chip& chip(std::string_view name = "Ascend910B3") { return **soc::find_chip(name); }

/// Global Memory of a test: one block a tensor of the plan, indexed by Operand::tensor.
class Memory {
 public:
  int add(const Tensor& t) {
    blocks_.emplace_back(t.data.span().begin(), t.data.span().end());
    return static_cast<int>(blocks_.size()) - 1;
  }
  int add(std::size_t bytes, std::uint8_t value = 0xA5) {
    blocks_.emplace_back(bytes, std::byte{value});
    return static_cast<int>(blocks_.size()) - 1;
  }
  std::vector<std::byte>& operator[](int i) { return blocks_[static_cast<std::size_t>(i)]; }
  const std::vector<std::byte>& operator[](int i) const { return blocks_[static_cast<std::size_t>(i)]; }
  template <class T>
  std::span<T> as(int i) {
    auto& b = (*this)[i];
    return {reinterpret_cast<T*>(b.data()), b.size() / sizeof(T)};
  }
  /// The whole of tensor `i` as an operand.
  Operand operand(int i, DType dtype, bool output = false) const {
    return {i, 0, static_cast<std::int64_t>((*this)[i].size()), dtype, output};
  }
  std::size_t size() const { return blocks_.size(); }
  friend bool operator==(const Memory&, const Memory&) = default;

 private:
  std::vector<std::vector<std::byte>> blocks_;
};

struct RunResult {
  Status status;
  std::vector<aicore::Stats> blocks;
  std::vector<aicore::Cycle> cycles() const {
    std::vector<aicore::Cycle> out;
    for (const aicore::Stats& s : blocks) out.push_back(s.cycles);
    return out;
  }
  aicore::Cycle longest() const {
    const auto all = cycles();
    return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
  }
};

/// Runs the blocks of a prepared task one after the other. InternalError passes through.
inline RunResult run_prepared(const PreparedKernel& kernel, const Task& task, const soc::Chip& chip,
                              Memory& memory, aicore::Values values, bool timing = false) {
  std::vector<aicore::Gm> operands;
  for (const Operand& o : task.operands) {
    std::byte* data = values == aicore::Values::None ? nullptr : memory[o.tensor].data() + o.offset;
    operands.push_back({data, o.bytes, false});
  }
  RunResult result;
  aicore::Core core(chip, values, timing);
  for (int b = 0; b < task.blocks(); ++b) {
    core.start_block(task.blocks());
    kernel.run(core, operands, task.block_tiles[static_cast<std::size_t>(b)],
               task.block_tiles[static_cast<std::size_t>(b) + 1]);
    result.blocks.push_back(core.stats());
  }
  return result;
}

/// Prepares (as the loader of a model does) and runs.
inline RunResult run_task(Prepare prepare, const Task& task, const soc::Chip& chip, Memory& memory,
                          aicore::Values values, bool timing = false) {
  PrepareResult kernel = prepare(task, chip);
  if (!kernel.ok()) return {kernel.status(), {}};
  return run_prepared(**kernel, task, chip, memory, values, timing);
}
inline RunResult run_task(const Task& task, const soc::Chip& chip, Memory& memory, aicore::Values values,
                          bool timing = false) {
  const KernelDef* def = find_kernel(task.kernel);
  if (def == nullptr) return {Status::error("E10041", "no kernel " + task.kernel), {}};
  return run_task(def->prepare, task, chip, memory, values, timing);
}

/// What every template must hold: Literal and Fast leave equal bytes everywhere, and a dry run takes the
/// cycles of a run. Returns what is wrong, "" if nothing. `memory` is left as Fast leaves it.
inline std::string check_modes(Prepare prepare, const Task& task, const soc::Chip& chip, Memory& memory) {
  using aicore::Values;
  Memory literal = memory, timed = memory, none = memory;
  const RunResult fast = run_task(prepare, task, chip, memory, Values::Fast);
  if (!fast.status.ok()) return fast.status.to_string();
  const RunResult exact = run_task(prepare, task, chip, literal, Values::Literal, true);
  if (!(memory == literal)) return "Fast and Literal differ";
  if (run_task(prepare, task, chip, timed, Values::Fast, true).cycles() != exact.cycles())
    return "Fast and Literal take different cycles";
  if (!(timed == literal)) return "timing changes the values";
  const Memory before = none;
  if (run_task(prepare, task, chip, none, Values::None, true).cycles() != exact.cycles())
    return "a dry run takes other cycles than a run";
  if (!(none == before)) return "a dry run writes";
  return "";
}

/// Flips values of the parameters at random: prepare must refuse them or give a kernel that runs within its
/// operands (InternalError counts as refusal). Returns how many were refused by prepare.
inline int fuzz_params(Prepare prepare, const Task& good, const soc::Chip& chip, const Memory& memory,
                       int rounds, std::uint32_t seed) {
  std::mt19937 rng(seed);
  int refused = 0;
  for (int i = 0; i < rounds; ++i) {
    Task task = good;
    const int edits = 1 + static_cast<int>(rng() % 3);
    for (int e = 0; e < edits && !task.params.empty(); ++e) {
      std::int64_t& p = task.params[rng() % task.params.size()];
      const std::uint64_t bits = static_cast<std::uint64_t>(p);
      auto wrap = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
      switch (rng() % 7) {
        case 0:
          p = static_cast<std::int64_t>(rng()) << (rng() % 32);
          break;
        case 1:
          p = wrap(0 - bits);
          break;
        case 2:
          p = wrap(bits + rng() % 5 - 2);
          break;
        case 3:
          p = INT64_MAX - static_cast<std::int64_t>(rng() % 3);
          break;
        case 4:
          p = static_cast<std::int64_t>(rng() % 70);
          break;
        case 5:
          p = wrap(bits * 2);
          break;
        default:
          task.params.resize(rng() % (task.params.size() + 1));
      }
    }
    Memory scratch = memory;
    try {
      PrepareResult kernel = prepare(task, chip);
      if (!kernel.ok()) {
        ++refused;
        continue;
      }
      // Corrupted tilings may make very many tiles; a few show whether they stay inside.
      std::int64_t last = std::min<std::int64_t>(task.block_tiles.back(), 64);
      task.block_tiles = {0, last};
      run_prepared(**kernel, task, chip, scratch,
                   i % 2 == 0 ? aicore::Values::Fast : aicore::Values::Literal);
    } catch (const InternalError&) {
    }
  }
  return refused;
}

inline float round_to(DType dtype, float v) {
  switch (dtype) {
    case DType::F16:
      return to_float(to_half(v));
    case DType::BF16:
      return to_float(to_bfloat16(v));
    default:
      return v;
  }
}

/// Values in [-range, range] of a floating dtype.
inline Tensor random_tensor(DType dtype, Dims shape, std::mt19937& rng, double range = 2.0) {
  std::uniform_real_distribution<double> dist(-range, range);
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (double& v : values) v = dist(rng);
  return from_doubles(dtype, std::move(shape), values);
}

/// Tensor `i` of a floating dtype as floats.
inline std::vector<float> floats(const Memory& memory, int i, DType dtype) {
  const auto& bytes = memory[i];
  const std::size_t n = bytes.size() / static_cast<std::size_t>(bit_width(dtype) / 8);
  std::vector<float> out(n);
  switch (dtype) {
    case DType::F16:
      convert(reinterpret_cast<const Half*>(bytes.data()), out.data(), n);
      break;
    case DType::BF16:
      convert(reinterpret_cast<const BFloat16*>(bytes.data()), out.data(), n);
      break;
    default:
      std::memcpy(out.data(), bytes.data(), n * sizeof(float));
  }
  return out;
}

}  // namespace atc::kernels::testing
