#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "driver/template_kernel.h"

namespace atc::driver {

/// An operator that op_host registers, as include/opp/atc_opp/describe.h prints it.
struct OppRegistered {
  std::string type;
  struct Param {
    std::string name;
    bool input = false;
  };
  std::vector<Param> params;                     ///< inputs, then outputs
  std::vector<std::vector<int>> types, formats;  ///< by combination, then parameter
  std::vector<std::string> chips;
  std::string tiling_class;  ///< empty: none is registered
  std::string tiling_text;   ///< its structures in C++
};

/// E40021 when the text is none of that program's, or tells of a fault of the project.
StatusOr<std::vector<OppRegistered>> parse_registered(std::string_view text);

/// The file that a kernel of one combination is compiled from: macros of its types, its tiling structure, the
/// kernel's own file, and an entry `symbol` for the C interface. `params`: of a kernel that is a template.
std::string kernel_unit(const OppRegistered& op, std::size_t combination, const std::string& kernel_file,
                        const std::string& function, const std::string& symbol,
                        const std::vector<TemplateParam>& params = {});

/// KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_X) of a kernel's source as a number of AtcKernelType; vector cores
/// when there is none.
int declared_kernel_type(std::string_view source);

}  // namespace atc::driver
