// hostcuda: bfloat16.
#pragma once

#include "hostcuda/small_float_functions.h"

HOSTCUDA_SMALL_FLOAT(__nv_bfloat16, bfloat16_bits, bfloat16_value)
HOSTCUDA_SMALL_FLOAT2(__nv_bfloat162, __nv_bfloat16)
HOSTCUDA_SMALL_FLOAT_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
