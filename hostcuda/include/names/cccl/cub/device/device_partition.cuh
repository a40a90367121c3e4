// hostcuda: one of the names of CUB; see cub/device/device_select.cuh.
#pragma once
#include "cub/device/device_select.cuh"
