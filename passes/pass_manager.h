#pragma once

#include <functional>
#include <string>
#include <vector>

#include "passes/fusion_trace.h"
#include "passes/pass.h"

namespace atc::passes {

struct PassManagerOptions {
  /// Verify before the first pass and after each one. Once at the end is always done.
  bool verify_each = false;
  /// A pass's name, "all", "changed", or "" for no dump. With a dump_dir, "" means "changed".
  std::string print_ir_after = {};
  /// An existing folder: dumps go to NNN_<pass>.air there, the graph before all passes to 000_input.air.
  std::string dump_dir = {};
  /// Takes the dumps when there is no dump_dir; null: standard output.
  std::function<void(std::string_view)> print = {};
  /// Constants of more elements are dumped as a hash; -1: all in full, so that a dump can be read back.
  std::int64_t max_constant_elements = 64;
  /// Run only so many passes (to bisect a wrong result); -1: all.
  int pass_limit = -1;
  /// Takes down what passes make of several source nodes, for the report; null: nobody asks.
  FusionTrace* trace = nullptr;
  /// Called with the graph after the canonical passes, where every value has its type and every node still
  /// is what the model says.
  std::function<void(const ir::Graph&)> on_canonical = {};
};

/// What became of one pass.
struct PassRecord {
  std::string_view name;
  int changes = 0;
  double milliseconds = 0;  ///< wall time of the pass alone
};

class PassManager {
 public:
  explicit PassManager(std::vector<Pass> passes, PassManagerOptions options = {});

  /// Runs the passes in order, groups of repeated ones until they have nothing to change. A pass's error
  /// comes back with the pass named in its context; a graph that a pass left broken is an InternalError that
  /// names it. E10001 when print_ir_after names no pass.
  Status run(ir::Graph& graph, PassContext& context);

  /// One for each run of a pass, in order.
  const std::vector<PassRecord>& records() const { return records_; }

 private:
  Status check_options() const;
  /// The number of its changes; 0 when it is switched off.
  StatusOr<int> run_one(const Pass& pass, ir::Graph& graph, PassContext& context);
  Status dump(const ir::Graph& graph, std::string_view pass, int changes);
  Status write_dump(const ir::Graph& graph, std::string_view label);

  std::vector<Pass> passes_;
  PassManagerOptions options_;
  std::vector<PassRecord> records_;
};

/// "constant-folding   12 changes   3.41 ms" for each record and a last line with the sum.
std::string timing_table(const std::vector<PassRecord>& records);
/// The same as one line of JSON: {"passes":[{"name":"...","changes":12,"ms":3.410}],"total_ms":3.410}.
std::string timing_json(const std::vector<PassRecord>& records);

}  // namespace atc::passes
