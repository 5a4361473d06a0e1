#pragma once

#include "atc_opp/platform.h"
