// hostcuda: one of the names of Thrust; see thrust/reduce.h.
#pragma once
#include "thrust/reduce.h"
