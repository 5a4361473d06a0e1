#pragma once

#include "atc_opp/plugin.h"
