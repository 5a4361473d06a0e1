#include <algorithm>
#include <tuple>

#include "ops/any_domain.h"
#include "ops/custom.h"
#include "ops/families.h"
#include "ops/op.h"

namespace atc::ops {

const Registry& Registry::instance() {
  static const Registry registry = [] {
    Registry r;
#define ATC_OP_FAMILY(name) register_##name(r);
#include "ops/families.def"
#undef ATC_OP_FAMILY
    register_custom(r);
    return r;
  }();
  return registry;
}

void Registry::add(OpDef def) {
  auto key = [](const OpDef& d) { return std::make_tuple(d.domain, d.name, d.since); };
  auto at = std::lower_bound(defs_.begin(), defs_.end(), def,
                             [&](const OpDef& a, const OpDef& b) { return key(a) < key(b); });
  defs_.insert(at, std::move(def));
}

const OpDef* Registry::find(std::string_view domain, std::string_view name, int version) const {
  if (domain == "ai.onnx") domain = {};
  const OpDef* by_type = nullptr;
  for (const OpDef& def : defs_) {
    if (def.name != name || version < def.since || def.until < version) continue;
    if (def.domain == domain) return &def;
    if (def.domain == kAnyDomain) by_type = &def;
  }
  return by_type;
}

std::vector<const OpDef*> Registry::all() const {
  std::vector<const OpDef*> out;
  for (const OpDef& def : defs_) out.push_back(&def);
  return out;
}

}  // namespace atc::ops
