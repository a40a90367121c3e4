// A matrix product that one warp computes on a tensor core: D = A B + C, where A is 16 x 8 and B is
// 8 x 8. The factors are TF32 numbers (8 bits of exponent, 10 of mantissa), the sums float32.
//
// Each lane holds these elements (PTX ISA, "Matrix fragments for mma.m16n8k8"), with row = lane / 4
// and column = lane % 4:
//   A   (row, column), (row + 8, column), (row, column + 4), (row + 8, column + 4)
//   B   (column, row), (column + 4, row)
//   C   (row, 2 column), (row, 2 column + 1), (row + 8, 2 column), (row + 8, 2 column + 1)
#pragma once

#include <cstring>

#include "nbody/cuda.h"

struct A {
  float e[4];
};
struct B {
  float e[2];
};
struct C {
  float e[4];
};

// The functions truncate or round x to TF32. The difference from x is exact in float32.
__device__ inline float big_part(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
}
__device__ inline float rounded_part(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

#if defined(__HOSTCUDA__)

// Fetches two elements that another lane holds.
struct Pair {
  float e[2];
};
inline Pair fetch(float first, float second, int lane) {
  const float2 both = make_float2(first, second);
  long long bits;
  std::memcpy(&bits, &both, sizeof bits);
  bits = __shfl_sync(0xffffffff, bits, lane);
  Pair pair;
  std::memcpy(&pair, &bits, sizeof pair);
  return pair;
}

// Multiplies without tensor cores: every lane fetches the factors of its four elements.
inline C multiply_add(const A& a, const B& b, const C& c) {
  const int lane = threadIdx.x % 32, row = lane / 4, column = lane % 4;
  double sum[4] = {c.e[0], c.e[1], c.e[2], c.e[3]};
  for (int k = 0; k < 4; ++k) {
    const Pair rows[2] = {fetch(a.e[0], a.e[1], 4 * row + k), fetch(a.e[2], a.e[3], 4 * row + k)};
    const Pair columns[2] = {fetch(b.e[0], b.e[1], 8 * column + k),
                             fetch(b.e[0], b.e[1], 8 * column + 4 + k)};
    for (int e = 0; e < 4; ++e) {
      for (int half = 0; half < 2; ++half) {
        sum[e] += double{big_part(rows[half].e[e / 2])} * double{big_part(columns[e % 2].e[half])};
      }
    }
  }
  C d;
  for (int k = 0; k < 4; ++k) d.e[k] = static_cast<float>(sum[k]);
  return d;
}

#else

// A tensor core ignores the bits that TF32 lacks. This version needs compute capability 8.0.
__device__ inline C multiply_add(const A& a, const B& b, const C& c) {
  C d{};
  const auto bits = [](float x) { return __float_as_uint(x); };
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d.e[0]), "=f"(d.e[1]), "=f"(d.e[2]), "=f"(d.e[3])
      : "r"(bits(a.e[0])), "r"(bits(a.e[1])), "r"(bits(a.e[2])), "r"(bits(a.e[3])),
        "r"(bits(b.e[0])), "r"(bits(b.e[1])), "f"(c.e[0]), "f"(c.e[1]), "f"(c.e[2]), "f"(c.e[3]));
  return d;
}

#endif
