// hostcuda: the CUDA driver API. Unlike NVIDIA's header of this name, it also includes the runtime
// API.
#pragma once

#include "cuda_runtime.h"
#include "hostcuda/driver/api.h"
#include "hostcuda/driver/memory.h"
#include "hostcuda/driver/types.h"
