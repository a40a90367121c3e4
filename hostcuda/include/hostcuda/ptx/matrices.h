// hostcuda: products of small matrices that a warp computes, as tensor cores do (mma.sync and
// wmma). Each lane contributes its elements of A and B, and computes its elements of the result.
#pragma once

#include <cstring>
#include <type_traits>

#include "../device_functions.h"

namespace hostcuda {

// TensorFloat-32 has the exponent of a float, and 10 bits of fraction.
inline float tf32_value(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits += 0x1000u;
  bits &= 0xffffe000u;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

namespace ptx {

template <int kCount>
struct Registers {
  unsigned element[kCount];
};

template <class Element>
Element element_of(const unsigned* registers, int i) {
  Element element;
  std::memcpy(&element, reinterpret_cast<const char*>(registers) + i * sizeof element,
              sizeof element);
  return element;
}

// mma.sync.m16n8k<kDepth>: D = A B + C with 16 x kDepth and kDepth x 8 elements. PTX defines which
// elements a lane's registers hold: a register has kPerRegister neighbouring elements of a row of A
// or of a column of B, and four lanes together hold 4 * kPerRegister neighbours.
template <int kDepth, class A, class B, class Sum>
auto multiply(const Registers<(kDepth * sizeof(A)) / 8>& a,
              const Registers<(kDepth * sizeof(B)) / 16>& b, const Registers<sizeof(Sum)>& c,
              HOSTCUDA_HERE) {
  static_assert(sizeof(A) == sizeof(B));
  constexpr int kPerRegister = 4 / static_cast<int>(sizeof(A));
  constexpr int kShared = 4 * kPerRegister;
  struct Fragments {
    Registers<(kDepth * sizeof(A)) / 8> a;
    Registers<(kDepth * sizeof(B)) / 16> b;
  };
  const auto all = gather(0xffffffffu, Fragments{a, b}, file, line);
  Registers<sizeof(Sum)> d = c;
  const int group = lane() / 4, member = lane() % 4;
  for (int i = 0; i < 4; ++i) {
    const int upper = i / 2, column = 2 * member + i % 2;  // row: group, or group + 8
    Sum sum = element_of<Sum>(c.element, i);
    using Wide = std::conditional_t<std::is_same_v<Sum, int>, int, float>;
    auto total = static_cast<Wide>(sum);
    for (int k = 0; k < kDepth; ++k) {
      const int part = k % kShared / kPerRegister, at = k / kShared;
      const auto x = element_of<A>(all.of_lane[4 * group + part].a.element,
                                   (upper + 2 * at) * kPerRegister + k % kPerRegister);
      const auto y = element_of<B>(all.of_lane[4 * column + part].b.element,
                                   at * kPerRegister + k % kPerRegister);
      total += static_cast<Wide>(x) * static_cast<Wide>(y);
    }
    sum = static_cast<Sum>(total);
    std::memcpy(reinterpret_cast<char*>(d.element) + i * sizeof sum, &sum, sizeof sum);
  }
  return d;
}

}  // namespace ptx
}  // namespace hostcuda
