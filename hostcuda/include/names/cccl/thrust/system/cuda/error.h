// hostcuda: one of the names of Thrust; see thrust/system_error.h.
#pragma once
#include "thrust/system_error.h"
