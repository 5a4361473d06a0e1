#include "driver/listing.h"

#include <climits>

#include "atc/base/check.h"
#include "ops/op.h"
#include "passes/pipeline.h"
#include "soc/chip.h"

namespace atc::driver {
namespace {

std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.append(out.size() < width ? width - out.size() : 1, ' ');
  return out;
}

std::string list_socs() {
  std::string text;
  for (const soc::Chip& chip : soc::chips()) {
    text += padded(chip.name, 20) + std::to_string(chip.cube_cores) + " AI Cores";
    if (chip.vector_cores > 0) text += ", " + std::to_string(chip.vector_cores) + " vector cores";
    text += ", UB " + std::to_string(chip.ub / 1024) + " KiB, L1 " + std::to_string(chip.l1 / 1024) +
            " KiB, L2 " + std::to_string(chip.l2 / (1024 * 1024)) + " MiB, " + std::to_string(chip.cube_mhz) +
            " MHz\n";
  }
  return text;
}

std::string list_ops() {
  std::string text;
  for (const ops::OpDef* def : ops::Registry::instance().all()) {
    std::string name(def->name);
    if (!def->domain.empty()) name = std::string(def->domain) + "::" + name;
    std::string versions = std::to_string(def->since);
    versions += def->until == INT_MAX ? std::string("+") : "-" + std::to_string(def->until);
    const bool on_core = def->vector != nullptr || def->lower != nullptr;
    text += padded(name, 44) + padded(versions, 8) + (on_core ? "AI Core\n" : "AI CPU\n");
  }
  return text;
}

/// Which switch turns it off: the section of a switch file; basic ones stay on at --oo_level=O1.
std::string switch_of(const passes::Pass& pass) {
  if (pass.name == "constant-folding") return "GraphFusion,O1";
  if (!pass.optional) return "always on";
  const std::string section = pass.kind == passes::FusionKind::Graph ? "GraphFusion" : "UBFusion";
  return section + (pass.basic ? ",O1" : "");
}

std::string list_passes() {
  std::string text;
  for (const passes::Pass& pass : passes::pipeline())
    text += padded(pass.name, 30) + padded(pass.atc_name.empty() ? "-" : pass.atc_name, 40) +
            padded(switch_of(pass), 14) + std::string(pass.summary) +
            (pass.parts.empty() ? "" : " (" + std::string(pass.parts) + ")") + "\n";
  return text;
}

}  // namespace

std::string list_text(std::string_view what) {
  if (what == "socs") return list_socs();
  if (what == "ops") return list_ops();
  ATC_CHECK(what == "passes", "list_text: " + std::string(what));
  return list_passes();
}

}  // namespace atc::driver
