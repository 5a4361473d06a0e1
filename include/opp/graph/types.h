#pragma once

#include "atc_opp/ge_types.h"
