#pragma once

// What a build needs to know of op_host before it compiles kernels: printed by a program that links op_host.
#include "atc_opp/library.h"

namespace atc_opp {

inline std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// Lines "op TYPE COMBINATIONS PARAMETERS", "fault TEXT", "parameter INPUT(0|1) NAME", "chip NAME", "types C
/// T0 T1 ...", "formats C F0 F1 ...", then "tiling CLASS LINES" with that many lines of C++ behind it.
inline int describe() {
  for (const ops::OpDef* def : op_defs()) {
    const Columns columns = columns_of(*def);
    if (!columns.fault.empty()) {
      std::printf("fault %s: %s\n", def->type.c_str(), columns.fault.c_str());
      continue;
    }
    std::printf("op %s %zu %zu\n", def->type.c_str(), columns.count, columns.types.size());
    for (const auto& p : def->inputs) std::printf("parameter 1 %s\n", p->name.c_str());
    for (const auto& p : def->outputs) std::printf("parameter 0 %s\n", p->name.c_str());
    for (const std::string& chip : def->core.chips) std::printf("chip %s\n", chip.c_str());
    for (std::size_t c = 0; c < columns.count; ++c) {
      std::printf("types %zu", c);
      for (const auto& list : columns.types) std::printf(" %d", list[c]);
      std::printf("\nformats %zu", c);
      for (const auto& list : columns.formats) std::printf(" %d", list[c]);
      std::printf("\n");
    }
    const auto tiling = optiling::tiling_classes().find(def->type);
    if (tiling == optiling::tiling_classes().end()) continue;
    optiling::TilingDef* instance = tiling->second();
    std::map<std::string, bool> known;
    std::string text;
    instance->print(known, text);
    std::printf("tiling %s %zu\n%s", instance->GetTilingClassName(),
                static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), text.c_str());
  }
  return 0;
}

}  // namespace atc_opp
