// The machine that a run was on, as the run's record names it.
#pragma once

#include <cstddef>
#include <string>

#include "nbody/device.h"

namespace nbody {

struct Platform {
  std::string backend;      // "cuda", "hostcuda" or "cpu"
  std::string device_name;  // name of the first device
  int device_count = 0;
  std::string driver;  // CUDA version the driver supports, "" on a CPU
  std::string cuda;    // CUDA runtime version, "" on a CPU
  std::string flags;   // what the step was compiled with
  // The functions of FoundDevice (nbody/device.h).
  bool (*lock_pages)(void* data, std::size_t bytes) = nullptr;
  void (*unlock_pages)(void* data) = nullptr;
};

// Throws NoDevice if there is no device; the message names the program for the CPU. The name of a
// CPU includes the number of threads used, which OMP_NUM_THREADS may limit.
Platform platform_of(const FoundDevice& device);

}  // namespace nbody
