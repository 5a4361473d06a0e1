// Where the time of an inference goes on this machine: host_tasks MODEL.om [rounds]. Runs each AI Core task
// on one thread, round by round, and prints the least CPU time of each, the slowest first. Inputs are a fixed
// pattern; tasks of other engines are left out, so that models with regions are not for it.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "aicore/core.h"
#include "atc/base/file.h"
#include "om/reader.h"
#include "runtime/prepared_plan.h"

namespace {

using namespace atc;

double cpu_ms() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

int fail(const Status& status) {
  std::fprintf(stderr, "host_tasks: %s\n", status.to_string().c_str());
  return 1;
}

/// Memory for the tensors of a plan, one stretch for each that a session would have.
class PlanMemory {
 public:
  PlanMemory(const plan::Plan& plan, const Bytes& weights)
      : weights_(weights),
        arena_(static_cast<std::size_t>(plan.arena_bytes)),
        inputs_(plan.inputs.size()),
        outputs_(plan.outputs.size()) {
    for (const plan::PlanTensor& t : plan.tensors) {
      if (t.space != plan::Space::Input && t.space != plan::Space::Output) continue;
      MutableBytes& port =
          (t.space == plan::Space::Input ? inputs_ : outputs_)[static_cast<std::size_t>(t.index)];
      if (port.size() < static_cast<std::size_t>(t.offset + t.bytes))
        port = MutableBytes(static_cast<std::size_t>(t.offset + t.bytes));
    }
    for (MutableBytes& port : inputs_) {
      float* values = reinterpret_cast<float*>(port.data());
      for (std::size_t i = 0; i < port.size() / 4; ++i)
        values[i] = static_cast<float>(i * 7 % 31) / 31 - 0.5F;
    }
  }
  std::byte* at(const plan::PlanTensor& t) {
    switch (t.space) {
      case plan::Space::Input:
        return inputs_[static_cast<std::size_t>(t.index)].data() + t.offset;
      case plan::Space::Output:
        return outputs_[static_cast<std::size_t>(t.index)].data() + t.offset;
      case plan::Space::Weight:  // kernels do not write to them
        return const_cast<std::byte*>(weights_.data()) + t.offset;
      default:
        return arena_.data() + t.offset;
    }
  }

 private:
  const Bytes& weights_;
  MutableBytes arena_;
  std::vector<MutableBytes> inputs_, outputs_;
};

int measure(const char* path, int rounds) {
  auto file = map_file(path);
  if (!file.ok()) return fail(file.status());
  auto om = om::load_om(*std::move(file));
  if (!om.ok()) return fail(om.status());
  const auto prepared = runtime::prepare(std::move(om->plan));
  if (!prepared.ok()) return fail(prepared.status());
  const plan::Plan& plan = (*prepared)->plan;
  PlanMemory memory(plan, om->weights);
  aicore::Core core(*(*prepared)->chip, aicore::Values::Fast, false);
  std::vector<double> best(plan.tasks.size(), 0);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
      if (plan.tasks[i].engine != plan::Engine::AiCore) continue;
      const kernels::Task& task = plan.tasks[i].kernel;
      std::vector<aicore::Gm> operands;
      for (const kernels::Operand& o : task.operands) {
        aicore::Gm gm;
        gm.data = memory.at(plan.tensors[static_cast<std::size_t>(o.tensor)]) + o.offset;
        gm.bytes = o.bytes;
        operands.push_back(gm);
      }
      const double begin = cpu_ms();
      core.start_block(task.blocks());
      (*prepared)->tasks[i].kernel->run(core, operands, task.block_tiles.front(), task.block_tiles.back());
      const double took = cpu_ms() - begin;
      best[i] = round == 0 ? took : std::min(best[i], took);
    }
  std::vector<std::size_t> order(best.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return best[a] > best[b]; });
  const double total = std::accumulate(best.begin(), best.end(), 0.0);
  std::printf("%.3f ms\n      ms  share    GF/s    GB/s\n", total);
  for (const std::size_t i : order) {
    if (best[i] <= 0) continue;
    const plan::PlanTask& task = plan.tasks[i];
    double bytes = 0;
    for (const kernels::Operand& o : task.kernel.operands) bytes += static_cast<double>(o.bytes);
    std::printf("%8.3f %5.1f%% %7.1f %7.1f  %-14s %6lld tiles  %s %s\n", best[i], 100 * best[i] / total,
                2e-6 * static_cast<double>(task.kernel.macs) / best[i], 1e-6 * bytes / best[i],
                task.kernel.kernel.c_str(),
                static_cast<long long>(task.kernel.block_tiles.back() - task.kernel.block_tiles.front()),
                task.op_type.c_str(), task.name.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  if (argc < 2 || rounds < 1) {
    std::fprintf(stderr, "usage: host_tasks MODEL.om [rounds]\n");
    return 2;
  }
  return measure(argv[1], rounds);
}
