// hostcuda: one of the names of CUB; see cub/thread_operators.cuh.
#pragma once
#include "cub/thread_operators.cuh"
