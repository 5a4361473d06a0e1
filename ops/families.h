#pragma once

namespace atc::ops {

class Registry;

#define ATC_OP_FAMILY(name) void register_##name(Registry& registry);
#include "ops/families.def"
#undef ATC_OP_FAMILY

}  // namespace atc::ops
