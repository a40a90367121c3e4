// hostcuda: one of the names of Thrust; see thrust/transform.h.
#pragma once
#include "thrust/transform.h"
