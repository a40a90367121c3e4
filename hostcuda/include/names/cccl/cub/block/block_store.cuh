// hostcuda: one of the names of CUB; see cub/block/block_load.cuh.
#pragma once
#include "cub/block/block_load.cuh"
