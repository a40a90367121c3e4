// hostcuda: CUB's operators.
#pragma once

#include "util_type.cuh"

namespace cub {

struct Sum {
  template <class T, class U>
  auto operator()(const T& a, const U& b) const {
    return a + b;
  }
};
#define HOSTCUDA_OPERATOR(Name, result)             \
  struct Name {                                     \
    template <class T>                              \
    auto operator()(const T& a, const T& b) const { \
      return result;                                \
    }                                               \
  };
HOSTCUDA_OPERATOR(Max, a < b ? b : a)
HOSTCUDA_OPERATOR(Min, b < a ? b : a)
HOSTCUDA_OPERATOR(Equality, a == b)
HOSTCUDA_OPERATOR(Inequality, a != b)
HOSTCUDA_OPERATOR(Difference, a - b)
HOSTCUDA_OPERATOR(Division, a / b)
// If two values are equal, both operators return the pair with the lower key.
HOSTCUDA_OPERATOR(ArgMax, a.value < b.value || (!(b.value < a.value) && b.key < a.key) ? b : a)
HOSTCUDA_OPERATOR(ArgMin, b.value < a.value || (!(a.value < b.value) && b.key < a.key) ? b : a)
#undef HOSTCUDA_OPERATOR

}  // namespace cub
