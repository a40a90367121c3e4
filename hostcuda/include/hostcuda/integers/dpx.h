// hostcuda: the DPX functions, maxima and minima for dynamic programming. A sum wraps around.
#pragma once

#include "simd.h"

namespace hostcuda {
inline int wrapped_sum(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
inline int larger(int a, int b) { return a < b ? b : a; }
inline int smaller(int a, int b) { return b < a ? b : a; }
inline unsigned wrapped_sum_u(unsigned a, unsigned b) { return a + b; }
inline unsigned larger_u(unsigned a, unsigned b) { return a < b ? b : a; }
inline unsigned smaller_u(unsigned a, unsigned b) { return b < a ? b : a; }
}  // namespace hostcuda

// name: max or min of the type; best: the function that computes it.
#define HOSTCUDA_DPX(name, type, Word, best, add)                         \
  HOSTCUDA_FUNCTION Word __vi##name##3_##type(Word a, Word b, Word c) {   \
    return best(best(a, b), c);                                           \
  }                                                                       \
  HOSTCUDA_FUNCTION Word __viadd##name##_##type(Word a, Word b, Word c) { \
    return best(add(a, b), c);                                            \
  }
// The functions that replace negative results by 0.
#define HOSTCUDA_DPX_RELU(name, type, Word, best, max)                                             \
  HOSTCUDA_FUNCTION Word __vi##name##_##type##_relu(Word a, Word b) { return max(best(a, b), 0); } \
  HOSTCUDA_FUNCTION Word __vi##name##3_##type##_relu(Word a, Word b, Word c) {                     \
    return max(__vi##name##3_##type(a, b, c), 0);                                                  \
  }                                                                                                \
  HOSTCUDA_FUNCTION Word __viadd##name##_##type##_relu(Word a, Word b, Word c) {                   \
    return max(__viadd##name##_##type(a, b, c), 0);                                                \
  }
HOSTCUDA_DPX(max, s32, int, hostcuda::larger, hostcuda::wrapped_sum)
HOSTCUDA_DPX(min, s32, int, hostcuda::smaller, hostcuda::wrapped_sum)
HOSTCUDA_DPX(max, u32, unsigned, hostcuda::larger_u, hostcuda::wrapped_sum_u)
HOSTCUDA_DPX(min, u32, unsigned, hostcuda::smaller_u, hostcuda::wrapped_sum_u)
HOSTCUDA_DPX(max, s16x2, unsigned, __vmaxs2, __vadd2)
HOSTCUDA_DPX(min, s16x2, unsigned, __vmins2, __vadd2)
HOSTCUDA_DPX(max, u16x2, unsigned, __vmaxu2, __vadd2)
HOSTCUDA_DPX(min, u16x2, unsigned, __vminu2, __vadd2)
HOSTCUDA_DPX_RELU(max, s32, int, hostcuda::larger, hostcuda::larger)
HOSTCUDA_DPX_RELU(min, s32, int, hostcuda::smaller, hostcuda::larger)
HOSTCUDA_DPX_RELU(max, s16x2, unsigned, __vmaxs2, __vmaxs2)
HOSTCUDA_DPX_RELU(min, s16x2, unsigned, __vmins2, __vmaxs2)
#undef HOSTCUDA_DPX_RELU
#undef HOSTCUDA_DPX

// Also tell whether the result is the first number.
#define HOSTCUDA_DPX_CHOICE(name, type, Word, comparison)                   \
  HOSTCUDA_FUNCTION Word __vib##name##_##type(Word a, Word b, bool* is_a) { \
    *is_a = a comparison b;                                                 \
    return *is_a ? a : b;                                                   \
  }
HOSTCUDA_DPX_CHOICE(max, s32, int, >=)
HOSTCUDA_DPX_CHOICE(min, s32, int, <=)
HOSTCUDA_DPX_CHOICE(max, u32, unsigned, >=)
HOSTCUDA_DPX_CHOICE(min, u32, unsigned, <=)
#undef HOSTCUDA_DPX_CHOICE
#define HOSTCUDA_DPX_CHOICES(name, type, best, compare)                                    \
  HOSTCUDA_FUNCTION unsigned __vib##name##_##type(unsigned a, unsigned b, bool* high_is_a, \
                                                  bool* low_is_a) {                        \
    const unsigned is_a = compare(a, b);                                                   \
    *high_is_a = is_a >> 16;                                                               \
    *low_is_a = is_a & 1;                                                                  \
    return best(a, b);                                                                     \
  }
HOSTCUDA_DPX_CHOICES(max, s16x2, __vmaxs2, __vsetges2)
HOSTCUDA_DPX_CHOICES(min, s16x2, __vmins2, __vsetles2)
HOSTCUDA_DPX_CHOICES(max, u16x2, __vmaxu2, __vsetgeu2)
HOSTCUDA_DPX_CHOICES(min, u16x2, __vminu2, __vsetleu2)
#undef HOSTCUDA_DPX_CHOICES
