#pragma once

#include <string>
#include <string_view>

#include "atc/base/status.h"
#include "atc/ir/graph.h"

namespace atc::ir {

struct PrintOptions {
  /// Constants of more elements than this are printed as a hash only; such a text needs the
  /// constants back to be parsed (`parse` refuses it). -1: all in full.
  std::int64_t max_constant_elements = -1;
};

/// The `.air` form; see src/ir/AIR.md. parse(print(g)) is g, and print(parse(t)) is t for a printed t.
std::string print(const Graph& graph, const PrintOptions& options = {});
/// E13005 with line and column.
StatusOr<std::unique_ptr<Graph>> parse(std::string_view text);

}  // namespace atc::ir
