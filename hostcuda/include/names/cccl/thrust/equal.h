// hostcuda: one of the names of Thrust; see thrust/find.h.
#pragma once
#include "thrust/find.h"
