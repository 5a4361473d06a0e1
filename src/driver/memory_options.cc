#include "driver/memory_options.h"

#include <cstdlib>

#include "atc/base/strings.h"
#include "om/op_names.h"

namespace atc::driver {
namespace {

constexpr const char* kVariable = "OP_NO_REUSE_MEM";

}  // namespace

plan::MemoryOptions memory_options(const CompileOptions& options, const ir::Graph& graph) {
  plan::MemoryOptions out;
  out.reuse = options.reuse_memory;
  const char* list = std::getenv(kVariable);
  if (list == nullptr) return out;
  for (const std::string_view entry : split(list, ','))
    if (const std::string_view name = trim(entry); !name.empty()) out.no_reuse.emplace_back(name);
  if (out.no_reuse.empty()) return out;
  for (const auto& node : graph.nodes())
    if (!node->name.empty()) out.types[node->name] = om::atc_op_type(*node);
  return out;
}

void warn_of_unknown_names(const plan::MemoryRecord& record, std::vector<Diagnostic>& warnings) {
  for (const std::string& name : record.unknown) {
    Diagnostic& warning = warnings.emplace_back();
    warning.code = "W10001";
    warning.message = std::string(kVariable) + " has no effect for '" + name +
                      "': no node and no operator type of the compiled model is called so.";
  }
}

}  // namespace atc::driver
