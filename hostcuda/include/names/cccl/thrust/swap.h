// hostcuda: one of the names of Thrust; see thrust/pair.h.
#pragma once
#include "thrust/pair.h"
