// hostcuda: one of the names of Thrust; see thrust/iterator/zip_iterator.h.
#pragma once
#include "thrust/iterator/zip_iterator.h"
