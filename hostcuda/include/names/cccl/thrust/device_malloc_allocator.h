// hostcuda: one of the names of Thrust; see thrust/device_vector.h.
#pragma once
#include "thrust/device_vector.h"
