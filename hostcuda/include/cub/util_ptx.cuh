// hostcuda: CUB's functions for lanes and warps.
#pragma once

#include "../cuda_runtime.h"

namespace cub {

inline unsigned LaneId() { return static_cast<unsigned>(hostcuda::lane()); }
inline unsigned WarpId() { return hostcuda::rank_in_block() / 32; }
inline int RowMajorTid(int dim_x, int dim_y, int) {
  return static_cast<int>((threadIdx.z * unsigned(dim_y) + threadIdx.y) * unsigned(dim_x) +
                          threadIdx.x);
}
template <int kLanes, class T>
T ShuffleIndex(T input, int source, unsigned mask, HOSTCUDA_HERE) {
  const int group = hostcuda::lane() / kLanes * kLanes;
  return hostcuda::shuffle(mask, input, group + source % kLanes, file, line);
}

}  // namespace cub
