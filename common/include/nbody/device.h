// Finds the devices that a step can run on. CUDA builds, hostcuda builds and plain CPU programs
// find different devices, so each step compiles this file. It avoids <string>, which costs nvcc
// half a second of compilation per step; support/platform.h formats the result.
#pragma once

#include <cstddef>

#if defined(__CUDACC__) || defined(__HOSTCUDA__)
#include <cstring>

#include "nbody/cuda.h"
#endif

#ifndef NBODY_FLAGS
#define NBODY_FLAGS ""
#endif

namespace nbody {

struct FoundDevice {
  const char* backend;          // "cuda", "hostcuda" or "cpu"
  const char* flags;            // compiler flags of the step
  int count = 0;                // number of devices found
  const char* missing = "";     // why no device was found
  char name[256] = "";          // name of the first device
  int driver = 0, runtime = 0;  // CUDA versions: the driver's and the runtime's; 13020 is 13.2
  // Pins host memory so that the device can access it directly. Returns false if pinning fails.
  bool (*lock_pages)(void* data, std::size_t bytes) = nullptr;
  void (*unlock_pages)(void* data) = nullptr;
};
using QueryDevice = FoundDevice (*)();

#if defined(__CUDACC__) || defined(__HOSTCUDA__)

inline bool lock_pages(void* data, std::size_t bytes) {
  const bool locked = cudaHostRegister(data, bytes, cudaHostRegisterDefault) == cudaSuccess;
  if (!locked) (void)cudaGetLastError();
  return locked;
}
inline void unlock_pages(void* data) { cudaHostUnregister(data); }

inline FoundDevice query_device() {
#if defined(__HOSTCUDA__)
  FoundDevice device{.backend = "hostcuda", .flags = NBODY_FLAGS};
#else
  FoundDevice device{.backend = "cuda", .flags = NBODY_FLAGS};
#endif
  const cudaError_t found = cudaGetDeviceCount(&device.count);
  if (found != cudaSuccess) device.count = 0;
  if (device.count == 0) {
    device.missing = cudaGetErrorString(found);
    return device;
  }
  cudaDeviceProp properties{};
  CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
  static_assert(sizeof device.name == sizeof properties.name);
  std::memcpy(device.name, properties.name, sizeof device.name);
  CUDA_CHECK(cudaDriverGetVersion(&device.driver));
  CUDA_CHECK(cudaRuntimeGetVersion(&device.runtime));
  device.lock_pages = lock_pages;
  device.unlock_pages = unlock_pages;
  return device;
}

#else

inline FoundDevice query_device() { return {.backend = "cpu", .flags = NBODY_FLAGS, .count = 1}; }

#endif

}  // namespace nbody
