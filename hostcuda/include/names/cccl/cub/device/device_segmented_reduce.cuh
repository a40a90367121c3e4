// hostcuda: one of the names of CUB; see cub/device/device_reduce.cuh.
#pragma once
#include "cub/device/device_reduce.cuh"
