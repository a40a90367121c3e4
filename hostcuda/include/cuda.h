// hostcuda: the CUDA driver API, for C++ and C. Unlike NVIDIA's header of this name, it also
// includes the runtime API in C++.
#pragma once

#ifdef __cplusplus
#include "cuda_runtime.h"
#endif
#include "hostcuda/driver/api.h"
#include "hostcuda/driver/memory.h"
#include "hostcuda/driver/types.h"
