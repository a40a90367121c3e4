// hostcuda: integer intrinsics of one or two words.
#pragma once

#include "../math.h"
#include "../types.h"

HOSTCUDA_FUNCTION int __mul24(int a, int b) {
  const auto low_24_bits = [](int v) {
    return static_cast<int>(static_cast<unsigned>(v) << 8) >> 8;
  };
  return static_cast<int>(static_cast<long long>(low_24_bits(a)) * low_24_bits(b));
}
HOSTCUDA_FUNCTION unsigned __umul24(unsigned a, unsigned b) {
  return (a & 0xffffffu) * (b & 0xffffffu);
}
HOSTCUDA_FUNCTION int __mulhi(int a, int b) {
  return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
HOSTCUDA_FUNCTION unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
HOSTCUDA_FUNCTION long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
HOSTCUDA_FUNCTION unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
HOSTCUDA_FUNCTION long long llmin(long long a, long long b) { return a < b ? a : b; }
HOSTCUDA_FUNCTION long long llmax(long long a, long long b) { return a > b ? a : b; }
HOSTCUDA_FUNCTION unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
HOSTCUDA_FUNCTION unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}
HOSTCUDA_FUNCTION unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
HOSTCUDA_FUNCTION unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
HOSTCUDA_FUNCTION unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(a > b ? static_cast<long long>(a) - b
                                         : static_cast<long long>(b) - a);
}
HOSTCUDA_FUNCTION unsigned __usad(unsigned a, unsigned b, unsigned c) {
  return c + (a > b ? a - b : b - a);
}
HOSTCUDA_FUNCTION unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
namespace hostcuda {
// PTX's prmt: byte k of the result is byte (selector >> 4k & 7) of the eight bytes formed by b and
// a, or eight copies of that byte's sign bit if (selector >> 4k & 8) is not 0.
HOSTCUDA_FUNCTION unsigned permuted_bytes(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int k = 0; k < 4; ++k) {
    const unsigned choice = selector >> 4 * k;
    unsigned byte = static_cast<unsigned>(bytes >> 8 * (choice & 7)) & 0xffu;
    if (choice & 8) byte = byte & 0x80u ? 0xffu : 0;
    result |= byte << 8 * k;
  }
  return result;
}
}  // namespace hostcuda
// nvcc clears bit 3 of each selector, so no sign is replicated.
HOSTCUDA_FUNCTION unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  return hostcuda::permuted_bytes(a, b, selector & 0x7777u);
}
HOSTCUDA_FUNCTION unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
HOSTCUDA_FUNCTION unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}
// The suffix c means that a shift of more than 32 bits counts as 32.
HOSTCUDA_FUNCTION unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
HOSTCUDA_FUNCTION unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}
// Returns the position of the n-th set bit of the mask, counted from bit `base` upwards, or
// downwards if n is negative; ~0u if no such bit is set. If n is 0, tests bit `base`.
HOSTCUDA_FUNCTION unsigned __fns(unsigned mask, unsigned base, int n) {
  if (n == 0) return mask >> base & 1 ? base : ~0u;
  const int step = n < 0 ? -1 : 1;
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) && (n -= step) == 0) return static_cast<unsigned>(at);
  return ~0u;
}
// Averages without overflow in the sum. The functions with an r round up, the others down.
HOSTCUDA_FUNCTION int __hadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
HOSTCUDA_FUNCTION int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
HOSTCUDA_FUNCTION unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
HOSTCUDA_FUNCTION unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

// dp4a multiplies each byte of a by the same byte of b and adds the four products to c. dp2a
// multiplies the two 16-bit numbers of a by the lower or the upper two bytes of b and adds the two
// products to c.
namespace hostcuda {
template <class Sum, class Byte, class A, class B>
Sum dot4(A a, B b, Sum sum) {
  for (int k = 0; k < 4; ++k)
    sum += static_cast<Byte>(static_cast<unsigned>(a) >> 8 * k) *
           static_cast<Byte>(static_cast<unsigned>(b) >> 8 * k);
  return sum;
}
template <class Sum, class Number, class Byte, class A, class B>
Sum dot2(A a, B b, Sum sum, int first) {
  for (int k = 0; k < 2; ++k)
    sum += static_cast<Number>(static_cast<unsigned>(a) >> 16 * k) *
           static_cast<Byte>(static_cast<unsigned>(b) >> 8 * (first + k));
  return sum;
}
template <class Bytes>
unsigned word_of(Bytes bytes) {
  unsigned word;
  memcpy(&word, &bytes, sizeof word);
  return word;
}
}  // namespace hostcuda
HOSTCUDA_FUNCTION int __dp4a(int a, int b, int c) {
  return hostcuda::dot4<int, signed char>(a, b, c);
}
HOSTCUDA_FUNCTION unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return hostcuda::dot4<unsigned, unsigned char>(a, b, c);
}
HOSTCUDA_FUNCTION int __dp4a(char4 a, char4 b, int c) {
  return hostcuda::dot4<int, signed char>(hostcuda::word_of(a), hostcuda::word_of(b), c);
}
HOSTCUDA_FUNCTION unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return hostcuda::dot4<unsigned, unsigned char>(hostcuda::word_of(a), hostcuda::word_of(b), c);
}
#define HOSTCUDA_DOT2(name, first)                                                                \
  HOSTCUDA_FUNCTION int name(int a, int b, int c) {                                               \
    return hostcuda::dot2<int, short, signed char>(a, b, c, first);                               \
  }                                                                                               \
  HOSTCUDA_FUNCTION unsigned name(unsigned a, unsigned b, unsigned c) {                           \
    return hostcuda::dot2<unsigned, unsigned short, unsigned char>(a, b, c, first);               \
  }                                                                                               \
  HOSTCUDA_FUNCTION int name(short2 a, char4 b, int c) {                                          \
    return hostcuda::dot2<int, short, signed char>(hostcuda::word_of(a), hostcuda::word_of(b), c, \
                                                   first);                                        \
  }                                                                                               \
  HOSTCUDA_FUNCTION unsigned name(ushort2 a, uchar4 b, unsigned c) {                              \
    return hostcuda::dot2<unsigned, unsigned short, unsigned char>(                               \
        hostcuda::word_of(a), hostcuda::word_of(b), c, first);                                    \
  }
HOSTCUDA_DOT2(__dp2a_lo, 0)
HOSTCUDA_DOT2(__dp2a_hi, 2)
#undef HOSTCUDA_DOT2
