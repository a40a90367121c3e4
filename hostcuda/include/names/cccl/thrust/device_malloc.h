// hostcuda: one of the names of Thrust; see thrust/device_ptr.h.
#pragma once
#include "thrust/device_ptr.h"
