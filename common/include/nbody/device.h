// Which machine a step runs on. The answer differs between a CUDA build, a build through hostcuda
// and a plain CPU program, so this is compiled with the step.
#pragma once

#include <string>

#include "nbody/error.h"

#if defined(__CUDACC__) || defined(__HOSTCUDA__)
#include "nbody/cuda.h"
#else
#include <omp.h>
#endif

#ifndef NBODY_FLAGS
#define NBODY_FLAGS ""
#endif

namespace nbody {

struct Platform {
  std::string backend;      // "cuda", "hostcuda" or "cpu"
  std::string device_name;  // of the first device
  int device_count = 0;
  std::string driver;  // CUDA version the driver supports, "" on a CPU
  std::string cuda;    // CUDA runtime version, "" on a CPU
  std::string flags;   // what the step was compiled with
};
std::string cpu_name();  // from the system, e.g. the "model name" of /proc/cpuinfo

// Throws NoDevice.
using QueryPlatform = Platform (*)();

#if defined(__CUDACC__) || defined(__HOSTCUDA__)

inline Platform query_platform() {
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess || count == 0) {
    throw NoDevice(std::string("no CUDA device: ") + cudaGetErrorString(found));
  }
  cudaDeviceProp properties{};
  int driver = 0, runtime = 0;
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  CUDA_CHECK(cudaDriverGetVersion(&driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  const auto version = [](int v) {
    return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10);
  };
#if defined(__HOSTCUDA__)
  return {
      "hostcuda", properties.name + (" on " + cpu_name()), count, version(driver), version(runtime),
      NBODY_FLAGS};
#else
  return {"cuda", properties.name, count, version(driver), version(runtime), NBODY_FLAGS};
#endif
}

#else

// The processor and the number of threads used: OMP_NUM_THREADS may limit them.
inline Platform query_platform() {
  return {"cpu",      cpu_name() + " x " + std::to_string(omp_get_max_threads()), 1, "", "",
          NBODY_FLAGS};
}

#endif

}  // namespace nbody
