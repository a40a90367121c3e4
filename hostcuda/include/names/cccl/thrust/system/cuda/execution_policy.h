// hostcuda: one of the names of Thrust; see thrust/execution_policy.h.
#pragma once
#include "thrust/execution_policy.h"
