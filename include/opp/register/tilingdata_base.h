#pragma once

#include "atc_opp/tiling_def.h"
