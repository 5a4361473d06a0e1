#pragma once

#include "ascendc/c_types.h"
