// hostcuda: one of the names of Thrust; see thrust/scan.h.
#pragma once
#include "thrust/scan.h"
