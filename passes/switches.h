#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace atc::passes {

struct Pass;

/// Which optional passes run, as --fusion_switch_file and --optimization_switch say. A pass that is not named
/// runs.
struct Switches {
  std::map<std::string, bool, std::less<>> passes;  ///< by the pass's own or its ATC name; true: on
  std::optional<bool> all_graph, all_ub;  ///< "ALL" of GraphFusion and UBFusion, for those not named

  bool is_on(const Pass& pass) const;
  /// Entries of `other` win.
  void override_with(const Switches& other);
};

}  // namespace atc::passes
