// hostcuda: CUDA's qualifiers, vector types and built-in variables.
#pragma once

#ifndef __HOSTCUDA__  // in .cu files, the launcher defines the macro; .cpp files need this line
#define __HOSTCUDA__ 1
#endif

// On a CPU, the qualifiers have no meaning, except that __global__ prevents inlining. A kernel
// therefore has its own frame in gdb, and the compiler cannot move its code from one emulated
// thread to another. When clang only checks the program (semantics.h), the qualifiers have their
// usual meaning.
#ifdef HOSTCUDA_SEMANTICS
#define HOSTCUDA_BUILT_IN __device__
#else
#if defined HOSTCUDA_MODULE && defined HOSTCUDA_MARKS
#define __global__ hostcuda_kernel_ __attribute__((noinline))
#else
#define __global__ __attribute__((noinline))
#endif
#define __host__
#ifdef HOSTCUDA_MARKS  // the launcher uses these words to find variables, and then removes them
#define __device__ hostcuda_device_
#define __constant__ hostcuda_constant_
#define __managed__ hostcuda_managed_
#else
#define __device__
#define __constant__  // each device has its own copy (src/runtime/symbol.h)
#define __managed__   // host code may access it at any time
#endif
#define HOSTCUDA_BUILT_IN HOSTCUDA_OF_THREAD
#endif
// A module finds these variables in the program that loads it, where their offsets from the
// thread's pointer never change.
#ifdef HOSTCUDA_MODULE
#define HOSTCUDA_OF_THREAD __attribute__((tls_model("initial-exec"))) __thread
#else
#define HOSTCUDA_OF_THREAD __thread
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
#define __maxnreg__(registers)
#define CUDART_CB
#define CUDARTAPI
#define __cudart_builtin__
// Public headers test these macros to find out whether CUDA's headers were included.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
// The last parameters of functions whose messages contain the caller's line.
#define HOSTCUDA_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
// Begins a device function that the program or the C library may define too (glibc 2.41 added
// sinpi, 2.42 rsqrt). The function is a template, so an ordinary function with the same parameters
// takes precedence.
#define HOSTCUDA_FUNCTION \
  template <class = void> \
  static inline
// __shared__, __launch_bounds__ and __noinline__ are not macros, because the launcher rewrites
// them. (A macro named __noinline__ would break libstdc++, which writes
// __attribute__((__noinline__)).)

// nvcc uses the same alignments, so a struct with members of these types has the same layout if
// nvcc compiles the program.
#ifdef HOSTCUDA_TRACE
#include "traced_copies.h"
#include "traced_vectors.h"
#else
#define HOSTCUDA_VECTOR2(Name, Scalar, Alignment)   \
  struct __attribute__((aligned(Alignment))) Name { \
    Scalar x, y;                                    \
  };                                                \
  constexpr inline Name make_##Name(Scalar x, Scalar y) { return Name{x, y}; }
#define HOSTCUDA_VECTOR4(Name, Scalar, Alignment)                             \
  struct __attribute__((aligned(Alignment))) Name {                           \
    Scalar x, y, z, w;                                                        \
  };                                                                          \
  constexpr inline Name make_##Name(Scalar x, Scalar y, Scalar z, Scalar w) { \
    return Name{x, y, z, w};                                                  \
  }
#endif
#define HOSTCUDA_VECTOR3(Name, Scalar) \
  struct Name {                        \
    Scalar x, y, z;                    \
  };                                   \
  constexpr inline Name make_##Name(Scalar x, Scalar y, Scalar z) { return Name{x, y, z}; }

#define HOSTCUDA_VECTOR1(Name, Scalar) \
  struct Name {                        \
    Scalar x;                          \
  };                                   \
  constexpr inline Name make_##Name(Scalar x) { return Name{x}; }
#define HOSTCUDA_VECTORS(name, Scalar, Bytes)  \
  HOSTCUDA_VECTOR1(name##1, Scalar)            \
  HOSTCUDA_VECTOR2(name##2, Scalar, 2 * Bytes) \
  HOSTCUDA_VECTOR3(name##3, Scalar)            \
  HOSTCUDA_VECTOR4(name##4, Scalar, (Bytes < 8 ? 4 * Bytes : 16))

HOSTCUDA_VECTORS(char, signed char, 1)
HOSTCUDA_VECTORS(uchar, unsigned char, 1)
HOSTCUDA_VECTORS(short, short, 2)
HOSTCUDA_VECTORS(ushort, unsigned short, 2)
HOSTCUDA_VECTORS(int, int, 4)
HOSTCUDA_VECTORS(uint, unsigned, 4)
HOSTCUDA_VECTORS(long, long, 8)
HOSTCUDA_VECTORS(ulong, unsigned long, 8)
HOSTCUDA_VECTORS(longlong, long long, 8)
HOSTCUDA_VECTORS(ulonglong, unsigned long long, 8)
HOSTCUDA_VECTORS(float, float, 4)
HOSTCUDA_VECTORS(double, double, 8)
HOSTCUDA_VECTOR4(double4_16a, double, 16)
HOSTCUDA_VECTOR4(double4_32a, double, 32)

#undef HOSTCUDA_VECTORS
#undef HOSTCUDA_VECTOR1
#undef HOSTCUDA_VECTOR2
#undef HOSTCUDA_VECTOR3
#undef HOSTCUDA_VECTOR4

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

// These are real thread-local variables, not macros or proxies, so that gdb can print threadIdx and
// test it in a conditional breakpoint. They are declared with __thread, because thread_local would
// add a check at each use.
extern HOSTCUDA_BUILT_IN uint3 threadIdx;
extern HOSTCUDA_BUILT_IN uint3 blockIdx;
extern HOSTCUDA_BUILT_IN dim3 blockDim;
extern HOSTCUDA_BUILT_IN dim3 gridDim;
constexpr int warpSize = 32;
