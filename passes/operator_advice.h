#pragma once

#include <string>
#include <string_view>

namespace atc::passes {

/// What a user can do about an operator that the registry does not have: replace one that the standard
/// dropped, raise the opset of one that came later, keep strings and sequences on the host. Empty when
/// nothing is known of the type.
std::string operator_advice(std::string_view domain, std::string_view type, int version);

}  // namespace atc::passes
