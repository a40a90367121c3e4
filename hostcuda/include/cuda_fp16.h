// hostcuda: half precision.
#pragma once

#include "hostcuda/small_float_functions.h"

HOSTCUDA_SMALL_FLOAT(__half, half_bits, half_value)
HOSTCUDA_SMALL_FLOAT2(__half2, __half)
HOSTCUDA_SMALL_FLOAT_FUNCTIONS(__half, __half2, half)
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;

inline __half2 make_half2(__half a, __half b) { return {a, b}; }

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
