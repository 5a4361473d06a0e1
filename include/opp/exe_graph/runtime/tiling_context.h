#pragma once

#include "atc_opp/contexts.h"
