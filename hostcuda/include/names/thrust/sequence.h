// hostcuda: one of the names of Thrust; see thrust/fill.h.
#pragma once
#include "thrust/fill.h"
