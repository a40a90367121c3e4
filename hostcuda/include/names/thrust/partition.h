// hostcuda: one of the names of Thrust; see thrust/remove.h.
#pragma once
#include "thrust/remove.h"
