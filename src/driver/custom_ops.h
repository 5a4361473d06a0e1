#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "passes/custom_nodes.h"

namespace atc::driver {

/// An entry of --custom_op.
struct CustomOpOption {
  std::string type;  ///< empty: every operator that the library lists
  std::string path;
};

/// "RoPE:./rope.so,Type2:lib2.so" or paths alone. E10001 for an empty type or path and for a type given
/// twice.
StatusOr<std::vector<CustomOpOption>> parse_custom_op(std::string_view text);

/// Loads the libraries: those of --custom_op, whose path may also be one within a folder of
/// ASCEND_CUSTOM_OPP_PATH, then every library of custom operators (*.so) in these folders, which offers all
/// that it lists. E10001 when a library does not list the type, E13000 when a path leads nowhere, E13029 and
/// E13030 for what does not load; files of other kinds in the folders are passed over.
StatusOr<passes::CustomOperators> load_custom_ops(const std::vector<CustomOpOption>& options);

}  // namespace atc::driver
