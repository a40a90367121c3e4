// The machine that a run was on, as its record names it.
#pragma once

#include <cstddef>
#include <string>

#include "nbody/device.h"

namespace nbody {

struct Platform {
  std::string backend;      // "cuda", "hostcuda" or "cpu"
  std::string device_name;  // of the first device
  int device_count = 0;
  std::string driver;  // CUDA version the driver supports, "" on a CPU
  std::string cuda;    // CUDA runtime version, "" on a CPU
  std::string flags;   // what the step was compiled with
  // The functions of FoundDevice (nbody/device.h).
  bool (*lock_pages)(void* data, std::size_t bytes) = nullptr;
  void (*unlock_pages)(void* data) = nullptr;
};

// Throws NoDevice, which names the program that needs none. On a CPU the name has the number of
// threads used: OMP_NUM_THREADS may limit them.
Platform platform_of(const FoundDevice& device);

}  // namespace nbody
