#pragma once

#include "ascendc/kernel_operator.h"
