#pragma once

#include "atc/base/status.h"
#include "atc/custom_op.h"
#include "custom/manifest.h"

namespace atc::custom {

/// What a loaded library lists, copied and checked: names are there, dtypes are known, every operator has
/// kernels, infer_shape and tiling. E13030 naming operator and field.
StatusOr<LibraryInfo> read_manifest(const AtcCustomOpLibrary& library, const std::string& name);

AttrValue copy_attr(const AtcCustomAttr& attr);

}  // namespace atc::custom
