// Which machine a step runs on. The answer differs between a CUDA build, a build through hostcuda
// and a plain CPU program, so this is compiled with the step.
#pragma once

#include <cstddef>
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
  // So that the device reads and writes memory of the host directly. False where it cannot be.
  bool (*lock_pages)(void* data, std::size_t bytes) = nullptr;
  void (*unlock_pages)(void* data) = nullptr;
};
std::string cpu_name();  // from the system, e.g. the "model name" of /proc/cpuinfo

// Throws NoDevice.
using QueryPlatform = Platform (*)();

#if defined(__CUDACC__) || defined(__HOSTCUDA__)

inline bool lock_pages(void* data, std::size_t bytes) {
  const bool locked = cudaHostRegister(data, bytes, cudaHostRegisterDefault) == cudaSuccess;
  if (!locked) (void)cudaGetLastError();
  return locked;
}
inline void unlock_pages(void* data) { cudaHostUnregister(data); }

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
  const std::string backend = "hostcuda", name = properties.name + (" on " + cpu_name());
#else
  const std::string backend = "cuda", name = properties.name;
#endif
  return {backend,          name,        count,      version(driver),
          version(runtime), NBODY_FLAGS, lock_pages, unlock_pages};
}

#else

// The processor and the number of threads used: OMP_NUM_THREADS may limit them.
inline Platform query_platform() {
  return {"cpu",      cpu_name() + " x " + std::to_string(omp_get_max_threads()), 1, "", "",
          NBODY_FLAGS};
}

#endif

}  // namespace nbody
