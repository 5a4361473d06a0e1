#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "atc/ir/graph.h"

namespace atc::passes {

/// Nodes around a Transpose that can work on what it reads instead: elementwise operators, Softmax,
/// reductions, Concat, and where it swaps rows and columns products with a constant matrix, connected by
/// values that are all permuted alike.
class PermutedRegion {
 public:
  /// `foreign`: operators that read a value from elsewhere belong to the region too; it costs a Transpose
  /// back.
  PermutedRegion(ir::Graph& graph, ir::Node& transpose, bool foreign);

  /// Transposes that go less those that come.
  int gain() const { return gain_; }
  /// Turns the region. Precondition: gain() > 0.
  void turn();

 private:
  void grow(ir::Value* first);
  void visit(ir::Value* v, std::vector<ir::Value*>& work);
  bool joins(const ir::Node& n, std::vector<ir::Value*>& entries) const;
  bool is_entry(const ir::Value* v) const;
  void count();
  ir::Value* native(ir::Value* v);
  ir::Value* operand(ir::Node& reader, ir::Value* v);

  ir::Graph& graph_;
  const Dims perm_;
  const bool foreign_allowed_;
  std::vector<ir::Value*> values_;  // permuted ones: of Transposes that enter, of nodes of the region
  std::unordered_set<const ir::Value*> inside_;
  std::unordered_set<const ir::Node*> members_;
  std::unordered_set<const ir::Value*> read_outside_;
  std::vector<ir::Node*> exits_;  // Transposes that read a value of the region
  std::unordered_map<const ir::Value*, ir::Value*> native_;
  int gain_ = 0;
};

}  // namespace atc::passes
