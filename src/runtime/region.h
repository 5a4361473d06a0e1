#pragma once

#include <list>
#include <memory>
#include <vector>

#include "atc/ir/graph.h"
#include "passes/pass.h"
#include "runtime/session.h"
#include "runtime/simulate.h"

namespace atc::runtime {

struct RegionOptions {
  passes::PassOptions passes;  ///< with the chip
  SessionOptions session;  ///< with the workers to use
};

/// Runs a graph whose shapes are known when it runs. For the shapes of its inputs (and the elements of those
/// that shapes depend on) it is compiled as any model is: what is static becomes a plan, run by a Session on
/// the AI Core; nodes whose outputs depend on data (NonZero) and control flow follow, by their reference,
/// nested graphs again by this class; what reads their outputs is a graph for another runner. Compiled forms
/// are kept by shape.
class RegionRunner {
 public:
  /// Takes a graph that stands alone. Types of its inputs may be open.
  RegionRunner(std::unique_ptr<ir::Graph> graph, RegionOptions options);
  ~RegionRunner();
  RegionRunner(const RegionRunner&) = delete;
  RegionRunner& operator=(const RegionRunner&) = delete;

  /// One tensor for each input of the graph. Errors: what compiling for these shapes, or an operator, says.
  StatusOr<std::vector<Tensor>> run(const std::vector<Tensor>& inputs);

  /// Forgets what ran so far.
  void start_count();
  /// Adds the modelled time of all that ran since (of compiled forms that are still kept).
  Status add_simulation(Simulation& sum) const;

 private:
  struct Stage;
  StatusOr<Stage*> stage_for(const std::vector<Tensor>& inputs);

  std::unique_ptr<ir::Graph> graph_;
  RegionOptions options_;
  std::list<std::unique_ptr<Stage>> stages_;  // the one used last in front
};

}  // namespace atc::runtime
