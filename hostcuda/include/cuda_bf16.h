// hostcuda: bfloat16.
#pragma once

#include "hostcuda/small_float_functions.h"

HOSTCUDA_SMALL_FLOAT(__nv_bfloat16, bfloat16_bits, bfloat16_value)
HOSTCUDA_SMALL_FLOAT2(__nv_bfloat162, __nv_bfloat16)
HOSTCUDA_SMALL_FLOAT_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
