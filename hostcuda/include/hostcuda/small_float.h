// hostcuda: code shared by half and bfloat16. An operation on these 16-bit numbers computes in
// float and rounds its result to nearest even. __half2 and __nv_bfloat162 store pairs of these
// numbers.
#pragma once

#include "../cuda_runtime.h"

namespace hostcuda {

inline unsigned short bfloat16_bits(float value) {
  const unsigned bits = __float_as_uint(value);
  if (value != value) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float bfloat16_value(unsigned short bits) {
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}

inline float half_value(unsigned short bits) {
  const unsigned exponent = bits >> 10 & 31, fraction = bits & 1023u;
  const float size =
      exponent == 31 ? (fraction ? NAN : HUGE_VALF)
      : exponent     ? ldexpf(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25)
                     : ldexpf(static_cast<float>(fraction), -24);
  return bits & 0x8000 ? -size : size;
}
inline unsigned short half_bits(float value) {
  const unsigned sign = __float_as_uint(value) >> 16 & 0x8000u;
  const float size = fabsf(value);
  if (size != size) return 0x7fff;
  if (size >= 65520.0f) return static_cast<unsigned short>(sign | 0x7c00u);
  // Scales the number so that its last place is 1, because rintf rounds to an integer, ties to
  // even. A carry increases the exponent.
  const int exponent = size < 6.103515625e-05f ? -14 : ilogbf(size);
  const auto units = static_cast<unsigned>(rintf(ldexpf(size, 10 - exponent)));
  const unsigned magnitude = units + (static_cast<unsigned>(exponent + 14) << 10);
  return static_cast<unsigned short>(sign | magnitude);
}

}  // namespace hostcuda

// ++ and --, as members of a class that has += and -=.
#define HOSTCUDA_STEPS(Name, one)             \
  Name& operator++() { return *this += one; } \
  Name& operator--() { return *this -= one; } \
  Name operator++(int) {                      \
    const Name before = *this;                \
    ++*this;                                  \
    return before;                            \
  }                                           \
  Name operator--(int) {                      \
    const Name before = *this;                \
    --*this;                                  \
    return before;                            \
  }

#define HOSTCUDA_SMALL_FLOAT(Name, to_bits, to_value)                                  \
  struct Name##_raw {                                                                  \
    unsigned short x;                                                                  \
  };                                                                                   \
  struct Name {                                                                        \
    unsigned short bits;                                                               \
    Name() = default;                                                                  \
    Name(float value) : bits(hostcuda::to_bits(value)) {}                              \
    Name(double value) : Name(static_cast<float>(value)) {}                            \
    Name(int value) : Name(static_cast<float>(value)) {}                               \
    Name(unsigned value) : Name(static_cast<float>(value)) {}                          \
    Name(long long value) : Name(static_cast<float>(value)) {}                         \
    Name(unsigned long long value) : Name(static_cast<float>(value)) {}                \
    Name(Name##_raw raw) : bits(raw.x) {}                                              \
    operator float() const { return hostcuda::to_value(bits); }                        \
    operator Name##_raw() const { return {bits}; }                                     \
    Name& operator+=(Name other) { return *this = Name(float(*this) + float(other)); } \
    Name& operator-=(Name other) { return *this = Name(float(*this) - float(other)); } \
    Name& operator*=(Name other) { return *this = Name(float(*this) * float(other)); } \
    Name& operator/=(Name other) { return *this = Name(float(*this) / float(other)); } \
    HOSTCUDA_STEPS(Name, Name(1.0f))                                                   \
  };                                                                                   \
  inline Name operator+(Name a, Name b) { return a += b; }                             \
  inline Name operator-(Name a, Name b) { return a -= b; }                             \
  inline Name operator*(Name a, Name b) { return a *= b; }                             \
  inline Name operator/(Name a, Name b) { return a /= b; }                             \
  inline Name operator-(Name a) { return Name(-float(a)); }                            \
  inline bool operator==(Name a, Name b) { return float(a) == float(b); }              \
  inline bool operator!=(Name a, Name b) { return float(a) != float(b); }              \
  inline bool operator<(Name a, Name b) { return float(a) < float(b); }                \
  inline bool operator>(Name a, Name b) { return float(a) > float(b); }                \
  inline bool operator<=(Name a, Name b) { return float(a) <= float(b); }              \
  inline bool operator>=(Name a, Name b) { return float(a) >= float(b); }              \
  inline Name __ldg(const Name* address) { return *address; }                          \
  inline Name atomicAdd(Name* address, Name value) {                                   \
    return hostcuda::atomic_change(address, [=](Name old) { return old + value; });    \
  }                                                                                    \
  namespace hostcuda {                                                                 \
  template <>                                                                          \
  inline constexpr bool kMayShuffle<Name> = true;                                      \
  }

#ifndef HOSTCUDA_TRACE
#define HOSTCUDA_COPIES_OF_PAIR(Name)  // traced_vectors.h has those of traced programs
#endif
// Operations on a pair work on each element separately.
#define HOSTCUDA_SMALL_FLOAT2(Pair, Name)                                                  \
  struct Pair##_raw {                                                                      \
    unsigned short x, y;                                                                   \
  };                                                                                       \
  struct __attribute__((aligned(4))) Pair {                                                \
    Name x, y;                                                                             \
    Pair() = default;                                                                      \
    Pair(Name x_, Name y_) : x(x_), y(y_) {}                                               \
    HOSTCUDA_COPIES_OF_PAIR(Pair)                                                          \
    Pair(Pair##_raw raw) : x(Name##_raw{raw.x}), y(Name##_raw{raw.y}) {}                   \
    operator Pair##_raw() const { return {x.bits, y.bits}; }                               \
    Pair& operator+=(Pair other) { return *this = {x + other.x, y + other.y}; }            \
    Pair& operator-=(Pair other) { return *this = {x - other.x, y - other.y}; }            \
    HOSTCUDA_STEPS(Pair, Pair(1.0f, 1.0f))                                                 \
  };                                                                                       \
  inline Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }                 \
  inline Pair operator-(Pair a, Pair b) { return {a.x - b.x, a.y - b.y}; }                 \
  inline Pair operator*(Pair a, Pair b) { return {a.x * b.x, a.y * b.y}; }                 \
  inline Pair operator/(Pair a, Pair b) { return {a.x / b.x, a.y / b.y}; }                 \
  inline Pair operator-(Pair a) { return {-a.x, -a.y}; }                                   \
  inline Pair& operator*=(Pair& a, Pair b) { return a = a * b; }                           \
  inline Pair& operator/=(Pair& a, Pair b) { return a = a / b; }                           \
  inline bool operator==(Pair a, Pair b) { return a.x == b.x && a.y == b.y; }              \
  inline bool operator!=(Pair a, Pair b) { return !(a == b); }                             \
  inline Pair atomicAdd(Pair* address, Pair value) {                                       \
    return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};             \
  }                                                                                        \
  inline Pair atomicAdd_block(Pair* address, Pair value) {                                 \
    return {atomicAdd_block(&address->x, value.x), atomicAdd_block(&address->y, value.y)}; \
  }                                                                                        \
  namespace hostcuda {                                                                     \
  template <>                                                                              \
  inline constexpr bool kMayShuffle<Pair> = true;                                          \
  }
