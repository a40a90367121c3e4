// Calls CUB's device-wide functions and owns the temporary memory that they work in.
#pragma once

#include <cstddef>
// <cub/cub.cuh> would make nvcc's compilation a fifth slower.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "nbody/cuda.h"

namespace nbody {

class CubMemory {
 public:
  // Calls call(memory, bytes) twice: first without memory, to learn how many bytes the call needs.
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
