#pragma once

#include <string>
#include <string_view>

#include "atc/base/status.h"

namespace atc::driver {

/// Ascend C's launches as C++: `name<T>[<<<dim, l2ctrl, stream>>>](args)` becomes
/// `ATC_KERNEL_LAUNCH((name<T>), (dim), (l2ctrl), (stream))(args)`, on the same lines. Comments, texts and
/// raw texts are left alone. `file` is what #line and diagnostics say. E20001 with the line for a launch that
/// cannot be read: no name before it, not three arguments, no closing >>>.
StatusOr<std::string> rewrite_launches(std::string_view source, const std::string& file);

}  // namespace atc::driver
