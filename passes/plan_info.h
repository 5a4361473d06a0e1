#pragma once

#include <map>
#include <string>

#include "passes/pass.h"

/// The options that a plan carries, for what is compiled when its shapes are known.
namespace atc::passes {

/// "precision", and "switches" and "node_precisions" where they are not empty.
void write_plan_info(const PassOptions& options, std::map<std::string, std::string>& info);

/// Back from there; what is absent stays as it is in `options`. E10041 for a text that is none of ours.
Status read_plan_info(const std::map<std::string, std::string>& info, PassOptions& options);

}  // namespace atc::passes
