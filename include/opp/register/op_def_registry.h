#pragma once

// Tiling functions print without including these.
#include <cstdio>
#include <iostream>

#include "atc_opp/op_def.h"
#include "atc_opp/platform.h"
