#pragma once

// AscendCL for programs of ascendc-g++: device, streams, memory and copies. Models (aclmdl*) and single
// operators (aclop*, aclnn*) are not part of it: omrun runs models.
#include "acl/acl_base.h"
#include "acl/acl_rt.h"
