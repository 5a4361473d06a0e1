#pragma once

#include "atc_opp/op_def.h"
#include "atc_opp/platform.h"
