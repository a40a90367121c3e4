// hostcuda: one of the names of Thrust; see thrust/sort.h.
#pragma once
#include "thrust/sort.h"
