// hostcuda: clang reads this header before a .cu file, to distinguish host code from device code
// (launcher/semantics.py). Declarations suffice, because clang only checks the file and does not
// compile it.
#pragma once

#define HOSTCUDA_SEMANTICS 1
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...)

// Use the C library's own headers, because C++'s versions declare some functions twice.
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS 1
#pragma clang force_cuda_host_device begin
#include <math.h>
#include <string.h>
#pragma clang force_cuda_host_device end
#include <stdlib.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <assert.h>
#include <stdio.h>
#include <time.h>

// Kernels may call only these functions and those above; rand(), for example, is host code.
extern "C" {
__device__ int printf(const char*, ...);
__device__ void* malloc(size_t);
__device__ void free(void*);
__device__ clock_t clock();
__device__ void __assert_fail(const char*, const char*, unsigned, const char*);
__device__ int abs(int);
__device__ long labs(long);
__device__ long long llabs(long long);
}

// hostcuda's headers use these headers of the standard library, in which all functions except
// constexpr ones are host code.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#pragma clang force_cuda_host_device begin
#include "intrinsics.h"
#include "types.h"
#pragma clang force_cuda_host_device end
#include "launch_functions.h"
#include "occupancy_api.h"
#include "runtime_api.h"
#pragma clang force_cuda_host_device begin
#include "../cuda_runtime.h"
#pragma clang force_cuda_host_device end

// The API functions that kernels may call, for dynamic parallelism; clang lets host code and
// kernels have functions of the same name.
__device__ cudaError_t cudaMalloc(void**, std::size_t);
template <class T>
__device__ cudaError_t cudaMalloc(T**, std::size_t);
__device__ cudaError_t cudaFree(void*);
__device__ cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind,
                                       cudaStream_t = nullptr);
__device__ cudaError_t cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t,
                                         std::size_t, cudaMemcpyKind, cudaStream_t = nullptr);
__device__ cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t = nullptr);
__device__ cudaError_t cudaMemset2DAsync(void*, std::size_t, int, std::size_t, std::size_t,
                                         cudaStream_t = nullptr);
__device__ cudaError_t cudaGetLastError();
__device__ cudaError_t cudaPeekAtLastError();
__device__ const char* cudaGetErrorString(cudaError_t);
__device__ const char* cudaGetErrorName(cudaError_t);
__device__ cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
__device__ cudaError_t cudaStreamDestroy(cudaStream_t);
__device__ cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
__device__ cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
__device__ cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
__device__ cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t = nullptr, unsigned = 0);
__device__ cudaError_t cudaEventDestroy(cudaEvent_t);
__device__ cudaError_t cudaGetDevice(int*);
__device__ cudaError_t cudaGetDeviceCount(int*);
__device__ cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
__device__ cudaError_t cudaDeviceGetLimit(std::size_t*, cudaLimit);
__device__ cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache*);
__device__ cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig*);
__device__ cudaError_t cudaDriverGetVersion(int*);
__device__ cudaError_t cudaRuntimeGetVersion(int*);
template <class Function>
__device__ cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Function*);
template <class Function>
__device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, Function*, int,
                                                                     std::size_t);
template <class Function>
__device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int*, Function*, int,
                                                                              std::size_t,
                                                                              unsigned);
template <class Function>
__device__ cudaError_t cudaOccupancyMaxPotentialBlockSize(int*, int*, Function*, std::size_t = 0,
                                                          int = 0);

// clang translates <<<>>> into a call of one of these functions.
extern "C" __host__ __device__ unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0,
                                                                    cudaStream_t = nullptr);
extern "C" __host__ __device__ cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0,
                                                             cudaStream_t = nullptr);
