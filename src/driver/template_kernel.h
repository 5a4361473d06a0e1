#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"

namespace atc::driver {

/// A parameter of a kernel that is a function template.
struct TemplateParam {
  bool is_type = false;
  std::string type;  ///< of a value, as it is written
};

/// The template parameters of the kernel `function` in its source; empty when it is no template. E40021 for a
/// parameter that this text does not tell: a macro, a pack.
StatusOr<std::vector<TemplateParam>> template_params(std::string_view source, const std::string& function);

/// What stands behind the kernel's file: an entry `symbol` that runs the instance that the launch's tiling
/// key names (ascendc/template_entry.h). `inputs`, `outputs`: numbers of their types in this compilation.
std::string template_unit(const std::vector<TemplateParam>& params, const std::vector<int>& inputs,
                          const std::vector<int>& outputs, const std::string& function,
                          const std::string& symbol);

}  // namespace atc::driver
