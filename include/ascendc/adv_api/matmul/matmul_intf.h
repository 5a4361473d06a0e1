#pragma once
#include "ascendc/matmul.h"
