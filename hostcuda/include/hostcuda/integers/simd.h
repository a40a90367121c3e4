// hostcuda: SIMD intrinsics, which treat a word as two halfwords or four bytes, and DPX functions.
#pragma once

#include <type_traits>

#include "../types.h"

namespace hostcuda {

// Joins operation(x, y) of all lanes of two words. A lane keeps the low bits of its result.
template <class Lane, class Operation>
inline unsigned for_lanes(unsigned a, unsigned b, const Operation& operation) {
  constexpr int kBits = 8 * sizeof(Lane);
  constexpr unsigned kMask = (1u << kBits) - 1;
  unsigned result = 0;
  for (int at = 0; at < 32; at += kBits) {
    const int x = static_cast<Lane>(a >> at), y = static_cast<Lane>(b >> at);
    result |= (static_cast<unsigned>(operation(x, y)) & kMask) << at;
  }
  return result;
}

// Returns the number of the lane's type that is closest to `value`.
template <class Lane>
inline int saturated(int value) {
  constexpr int kBits = 8 * sizeof(Lane) - std::is_signed_v<Lane>;
  constexpr int kMost = (1 << kBits) - 1, kLeast = std::is_signed_v<Lane> ? ~kMost : 0;
  return value < kLeast ? kLeast : value > kMost ? kMost : value;
}

inline int distance(int x, int y) { return x < y ? y - x : x - y; }

template <class Lane>
inline unsigned sum_of_distances(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Lane))
    sum += static_cast<unsigned>(distance(static_cast<Lane>(a >> at), static_cast<Lane>(b >> at)));
  return sum;
}

}  // namespace hostcuda

// ---- one word: abs, neg; a suffix ss or us means saturation -------------------------------------

#define HOSTCUDA_LANES_OF_ONE(name, Lane, expression)                              \
  HOSTCUDA_FUNCTION unsigned name(unsigned a) {                                    \
    return hostcuda::for_lanes<Lane>(a, 0, [](int x, int) { return expression; }); \
  }
HOSTCUDA_LANES_OF_ONE(__vabs2, short, x < 0 ? -x : x)
HOSTCUDA_LANES_OF_ONE(__vabs4, signed char, x < 0 ? -x : x)
HOSTCUDA_LANES_OF_ONE(__vabsss2, short, hostcuda::saturated<short>(x < 0 ? -x : x))
HOSTCUDA_LANES_OF_ONE(__vabsss4, signed char, hostcuda::saturated<signed char>(x < 0 ? -x : x))
HOSTCUDA_LANES_OF_ONE(__vneg2, short, -x)
HOSTCUDA_LANES_OF_ONE(__vneg4, signed char, -x)
HOSTCUDA_LANES_OF_ONE(__vnegss2, short, hostcuda::saturated<short>(-x))
HOSTCUDA_LANES_OF_ONE(__vnegss4, signed char, hostcuda::saturated<signed char>(-x))
#undef HOSTCUDA_LANES_OF_ONE

// ---- two words: s and u in the names mean signed and unsigned -----------------------------------

#define HOSTCUDA_LANES(name, Halfword, Byte, operation)                                 \
  HOSTCUDA_FUNCTION unsigned name##2(unsigned a, unsigned b) {                          \
    using Lane [[maybe_unused]] = Halfword;                                             \
    return hostcuda::for_lanes<Halfword>(a, b, [](int x, int y) { return operation; }); \
  }                                                                                     \
  HOSTCUDA_FUNCTION unsigned name##4(unsigned a, unsigned b) {                          \
    using Lane [[maybe_unused]] = Byte;                                                 \
    return hostcuda::for_lanes<Byte>(a, b, [](int x, int y) { return operation; });     \
  }
#define HOSTCUDA_SIGNED_LANES(name, operation) HOSTCUDA_LANES(name, short, signed char, operation)
#define HOSTCUDA_UNSIGNED_LANES(name, operation) \
  HOSTCUDA_LANES(name, unsigned short, unsigned char, operation)
HOSTCUDA_UNSIGNED_LANES(__vadd, x + y)
HOSTCUDA_UNSIGNED_LANES(__vsub, x - y)
HOSTCUDA_SIGNED_LANES(__vaddss, hostcuda::saturated<Lane>(x + y))
HOSTCUDA_SIGNED_LANES(__vsubss, hostcuda::saturated<Lane>(x - y))
HOSTCUDA_UNSIGNED_LANES(__vaddus, hostcuda::saturated<Lane>(x + y))
HOSTCUDA_UNSIGNED_LANES(__vsubus, hostcuda::saturated<Lane>(x - y))
HOSTCUDA_SIGNED_LANES(__vavgs, (x + y + (x + y >= 0)) >> 1)  // a half rounds away from zero
HOSTCUDA_UNSIGNED_LANES(__vavgu, (x + y + 1) >> 1)
HOSTCUDA_UNSIGNED_LANES(__vhaddu, (x + y) >> 1)
HOSTCUDA_SIGNED_LANES(__vmaxs, x < y ? y : x)
HOSTCUDA_UNSIGNED_LANES(__vmaxu, x < y ? y : x)
HOSTCUDA_SIGNED_LANES(__vmins, y < x ? y : x)
HOSTCUDA_UNSIGNED_LANES(__vminu, y < x ? y : x)
HOSTCUDA_SIGNED_LANES(__vabsdiffs, hostcuda::distance(x, y))
HOSTCUDA_UNSIGNED_LANES(__vabsdiffu, hostcuda::distance(x, y))

// __vcmp fills a lane with ones if the comparison is true, __vset sets it to 1.
#define HOSTCUDA_COMPARISON(suffix, lanes, comparison) \
  lanes(__vcmp##suffix, comparison ? -1 : 0) lanes(__vset##suffix, comparison ? 1 : 0)
#define HOSTCUDA_COMPARISONS(suffix, comparison)                    \
  HOSTCUDA_COMPARISON(suffix##s, HOSTCUDA_SIGNED_LANES, comparison) \
  HOSTCUDA_COMPARISON(suffix##u, HOSTCUDA_UNSIGNED_LANES, comparison)
HOSTCUDA_COMPARISON(eq, HOSTCUDA_UNSIGNED_LANES, x == y)
HOSTCUDA_COMPARISON(ne, HOSTCUDA_UNSIGNED_LANES, x != y)
HOSTCUDA_COMPARISONS(gt, x > y)
HOSTCUDA_COMPARISONS(ge, x >= y)
HOSTCUDA_COMPARISONS(lt, x < y)
HOSTCUDA_COMPARISONS(le, x <= y)
#undef HOSTCUDA_COMPARISONS
#undef HOSTCUDA_COMPARISON
#undef HOSTCUDA_UNSIGNED_LANES
#undef HOSTCUDA_SIGNED_LANES
#undef HOSTCUDA_LANES

#define HOSTCUDA_SUM_OF_DISTANCES(name, Lane)               \
  HOSTCUDA_FUNCTION unsigned name(unsigned a, unsigned b) { \
    return hostcuda::sum_of_distances<Lane>(a, b);          \
  }
HOSTCUDA_SUM_OF_DISTANCES(__vsads2, short)
HOSTCUDA_SUM_OF_DISTANCES(__vsads4, signed char)
HOSTCUDA_SUM_OF_DISTANCES(__vsadu2, unsigned short)
HOSTCUDA_SUM_OF_DISTANCES(__vsadu4, unsigned char)
#undef HOSTCUDA_SUM_OF_DISTANCES
