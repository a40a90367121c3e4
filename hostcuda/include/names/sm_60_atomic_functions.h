// hostcuda: one of the names under which programs include the runtime; see cuda_runtime.h.
#pragma once
#include "cuda_runtime.h"
