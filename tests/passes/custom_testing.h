#pragma once

#include <initializer_list>

#include "custom/library_source.h"
#include "pass_testing.h"
#include "passes/custom_nodes.h"

namespace atc::passes {

/// Operators of libraries made for the test, as a compilation for Ascend910B3 has them.
struct CustomLibraries {
  CustomLibraries(std::initializer_list<custom_test::LibrarySource> sources) {
    for (const custom_test::LibrarySource& source : sources) {
      const custom_test::Folder folder;
      auto library = custom::Library::open(source.build(folder));
      EXPECT_TRUE(library.ok()) << library.status().to_string();
      if (library.ok()) takeover.operators.entries.push_back({*library, 0, true});
    }
    context.options.chip = *soc::find_chip("Ascend910B3");
    context.custom = &takeover;
  }

  /// The graph after the pass, or the text of its error. A second run must find nothing.
  std::string run(const Pass& pass, const std::string& text) {
    const auto graph = graph_of(text);
    const auto changes = pass.run(*graph, context);
    if (!changes.ok()) return changes.status().to_string();
    EXPECT_EQ(ir::verify(*graph), "");
    const std::string after = ir::print(*graph);
    if (*changes == 0) {
      EXPECT_EQ(after, ir::print(*graph_of(text))) << "without changes";
    }
    const std::size_t taken = takeover.taken.size();
    const auto again = pass.run(*graph, context);
    EXPECT_TRUE(again.ok() && *again == 0) << "a second run finds nothing\n" << after;
    EXPECT_EQ(takeover.taken.size(), taken);
    return after;
  }
  std::string reasons() const {
    std::string out;
    for (const NearMiss& m : context.near_misses) out += m.fusion + ": " + m.reason + "\n";
    return out;
  }

  CustomTakeover takeover;
  PassContext context;
};

}  // namespace atc::passes
