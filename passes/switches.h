#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace atc::passes {

struct Pass;

/// Which optional passes run, as --oo_level, --fusion_switch_file and --optimization_switch say. A pass that
/// is not named runs.
struct Switches {
  std::map<std::string, bool, std::less<>> passes;  ///< by the pass's own or its ATC name; true: on
  std::optional<bool> all_graph, all_ub;  ///< "ALL" of GraphFusion and UBFusion, for those not named
  bool basic_only = false;                ///< --oo_level=O1: of those not named, the basic ones

  /// A pass of several fusions runs when one of them is on.
  bool is_on(const Pass& pass) const;
  /// For a fusion of the pass by its ATC name, one of Pass::parts.
  bool is_part_on(const Pass& pass, std::string_view part) const;
  /// Entries of `other` win.
  void override_with(const Switches& other);

  /// For the .om: regions are compiled when their shapes are known. Names that no pass has are left out.
  /// "" when everything is as it is by default.
  std::string to_text() const;
  /// nullopt when the text is none of to_text().
  static std::optional<Switches> from_text(std::string_view text);

 private:
  std::optional<bool> named(std::string_view name) const;
  bool by_default(const Pass& pass) const;
};

}  // namespace atc::passes
