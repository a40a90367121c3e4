// hostcuda: the parts of the CUDA samples' helper_cuda.h that programs use (error checks and the
// choice of a device).
#pragma once

#include <cstdio>
#include <cstdlib>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }

// Checks a status of the runtime or of a library. In every status type, 0 means success.
template <class Result>
void check(Result result, const char* function, const char* file, int line) {
  if (!result) return;
  const auto code = static_cast<unsigned>(result);
  std::fprintf(stderr, "CUDA error at %s:%d code=%u(%s) \"%s\" \n", file, line, code,
               cudaGetErrorName(static_cast<cudaError_t>(code)), function);
  std::exit(EXIT_FAILURE);
}
#define checkCudaErrors(value) check((value), #value, __FILE__, __LINE__)

inline bool __printLastCudaError(const char* message, const char* file, int line) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return false;
  std::fprintf(stderr, "%s(%i) : getLastCudaError() CUDA error : %s : (%d) %s.\n", file, line,
               message, static_cast<int>(error), cudaGetErrorString(error));
  return true;
}
inline void __getLastCudaError(const char* message, const char* file, int line) {
  if (__printLastCudaError(message, file, line)) std::exit(EXIT_FAILURE);
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline int ftoi(float value) { return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f); }
// Returns the value for compute capability 9.0, which hostcuda emulates.
inline int _ConvertSMVer2Cores(int, int) { return 128; }
inline const char* _ConvertSMVer2ArchName(int, int) { return "hostcuda"; }

inline int gpuDeviceInit(int device) {
  checkCudaErrors(cudaSetDevice(device < 0 ? 0 : device));
  return device < 0 ? 0 : device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int findCudaDevice(int count, const char** words) {
  return gpuDeviceInit(getCmdLineArgumentInt(count, words, "device"));
}
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor) {
  cudaDeviceProp properties;
  checkCudaErrors(cudaGetDeviceProperties(&properties, 0));
  return properties.major > major || (properties.major == major && properties.minor >= minor);
}
