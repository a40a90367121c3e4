// hostcuda: one of the names of Thrust; see thrust/detail/iterator.h.
#pragma once
#include "thrust/detail/iterator.h"
