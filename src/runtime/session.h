#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aicore/core.h"
#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "atc/base/thread_pool.h"
#include "custom/shared_memory.h"
#include "runtime/prepared_plan.h"

namespace atc::runtime {

class CustomRunner;
class RegionRunner;
struct Simulation;

/// Threads, and one simulated AI Core for each. Sessions of one model share them.
struct Workers {
  Workers(const soc::Chip& chip, aicore::Values values, int threads);
  ThreadPool pool;
  std::vector<std::unique_ptr<aicore::Core>> cores;
};

struct SessionOptions {
  int threads = 0;  ///< <= 0: one for each hardware thread
  /// Fast, or Literal, in which every byte moves as the instructions say (slow; for tests).
  aicore::Values values = aicore::Values::Fast;
  /// Of the session around this one; null: its own.
  std::shared_ptr<Workers> workers = nullptr;
};

/// A loaded model, ready to run: its weights, one activation arena, its workers. Not thread-safe: one run at
/// a time. Outputs have the same bits at any thread count.
class Session {
 public:
  /// Keeps `weights` (WEIGHTS_DATA, of the plan's weight_bytes) alive. E10041 when they are too short,
  /// E10059 when memory does not suffice, CustomRunner's errors when the plan runs custom operators.
  static StatusOr<std::unique_ptr<Session>> create(std::shared_ptr<const PreparedPlan> plan, Bytes weights,
                                                   const SessionOptions& options);
  ~Session();

  const PreparedPlan& prepared() const { return *prepared_; }
  const std::vector<TensorSpec>& input_specs() const { return input_specs_; }
  const std::vector<TensorSpec>& output_specs() const { return output_specs_; }
  int threads() const { return workers_->pool.size(); }

  /// Runs the model once. E13025 when number, dtype, shape or size of an input is wrong; E19999 when a
  /// kernel breaks a rule of the AI Core; what an operator's reference reports on the AI CPU.
  /// Returned tensors stay valid after later runs; their memory is reused once they are dropped.
  StatusOr<std::vector<Tensor>> run(const std::vector<Tensor>& inputs);
  /// The same, into tensors of a run before, which are given back first: with them a run of AI Core tasks on
  /// one thread allocates nothing. Not specified after an error.
  Status run(const std::vector<Tensor>& inputs, std::vector<Tensor>& outputs);
  /// Modelled time of the regions in the last run, totals only; simulate() leaves them out.
  StatusOr<Simulation> region_simulation() const;

 private:
  Session(std::shared_ptr<const PreparedPlan> plan, Bytes weights, const SessionOptions& options);

  /// An operand whose address changes from run to run.
  struct Moving {
    std::size_t task = 0, operand = 0;
  };
  /// The buffer behind a graph input or output.
  struct Port {
    std::int64_t bytes = 0;
    std::byte* data = nullptr;              ///< of this run
    MutableBytes staging;                   ///< inputs: used when the caller's bytes are not aligned
    std::shared_ptr<MutableBytes> storage;  ///< outputs: shared with the tensors returned
    std::byte* shared = nullptr;            ///< the place of ports that custom kernels work on
  };

  void place_memory();
  Status start_custom(int threads);
  void bind_operands();
  void make_regions(const SessionOptions& options);
  Status accept_inputs(const std::vector<Tensor>& inputs);
  void renew_outputs();
  Status run_task(std::size_t index);
  void run_ai_core(std::size_t index);
  Status run_ai_cpu(std::size_t index);
  Status run_region(std::size_t index);
  Status run_custom(std::size_t index);
  std::byte* address(const plan::PlanTensor& tensor, std::int64_t offset, std::int64_t bytes) const;
  Tensor view(int tensor) const;
  void view(int tensor, Tensor& out) const;
  Status store(int tensor, const Tensor& value, const plan::PlanTask& task, const ir::Graph& graph,
               std::size_t output);
  void collect_outputs(std::vector<Tensor>& results) const;

  std::shared_ptr<const PreparedPlan> prepared_;
  Bytes weights_;
  std::shared_ptr<Workers> workers_;
  MutableBytes own_arena_;
  std::span<std::byte> arena_;                    // in own_arena_, or in shared_
  std::shared_ptr<custom::SharedMemory> shared_;  // with custom tasks: the arena and their ports
  std::unique_ptr<CustomRunner> custom_;
  std::vector<Port> inputs_, outputs_;
  std::vector<TensorSpec> input_specs_, output_specs_;
  std::vector<std::vector<aicore::Gm>> operands_;  // by task
  std::vector<Moving> moving_;
  std::vector<bool> parallel_;                          // by task: worth waking the workers
  std::vector<std::unique_ptr<RegionRunner>> regions_;  // by task: those of regions
  std::vector<Tensor> held_;                            // by plan tensor: Held ones, strings
};

}  // namespace atc::runtime
