#pragma once

#include <string>
#include <string_view>

namespace atc::driver {

/// The text of --list: one line for each chip ("socs"), operator ("ops": domain, name, versions, engine) or
/// pass
/// ("passes": name, ATC's name, summary). Precondition: `what` is one of the three.
std::string list_text(std::string_view what);

}  // namespace atc::driver
