// hostcuda: one of the names of Thrust; see thrust/iterator/counting_iterator.h.
#pragma once
#include "thrust/iterator/counting_iterator.h"
