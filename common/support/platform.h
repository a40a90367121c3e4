// Describes the machine on which a program runs, for the result record.
#pragma once

#include <cstddef>
#include <string>

#include "nbody/device.h"

namespace nbody {

struct Platform {
  std::string backend;      // "cuda", "hostcuda" or "cpu"
  std::string device_name;  // name of the first device
  int device_count = 0;
  std::string driver;  // CUDA version that the driver supports; "" on a CPU
  std::string cuda;    // CUDA runtime version; "" on a CPU
  std::string flags;   // compiler flags of the step
  // Functions of FoundDevice (nbody/device.h) that pin and unpin host memory.
  bool (*lock_pages)(void* data, std::size_t bytes) = nullptr;
  void (*unlock_pages)(void* data) = nullptr;
};

// Throws NoDevice if there is no device; the message says how to build the program for the CPU. The
// name of a CPU includes the number of threads that the run uses, which OMP_NUM_THREADS may limit.
Platform platform_of(const FoundDevice& device);

}  // namespace nbody
