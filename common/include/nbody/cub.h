// CUB's calls for a whole device, and the memory they work in.
#pragma once

#include <cstddef>
// Not <cub/cub.cuh>, which makes nvcc take a fifth longer.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include "nbody/cuda.h"

namespace nbody {

class CubMemory {
 public:
  // Calls call(memory, bytes) twice: without memory it only reports how much it needs.
  template <class Call>
  void run(const Call& call) {
    std::size_t bytes = 0;
    CUDA_CHECK(call(nullptr, bytes));
    if (bytes > memory_.size()) memory_ = DeviceArray<char>(bytes);
    CUDA_CHECK(call(memory_.get(), bytes));
  }

 private:
  DeviceArray<char> memory_;
};

}  // namespace nbody
