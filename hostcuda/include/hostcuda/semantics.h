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
#include "runtime_api.h"
#pragma clang force_cuda_host_device begin
#include "../cuda_runtime.h"
#pragma clang force_cuda_host_device end

// clang translates <<<>>> into a call of one of these functions.
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = nullptr);
