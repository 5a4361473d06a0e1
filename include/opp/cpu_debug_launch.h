#pragma once

#include "tikicpulib.h"
