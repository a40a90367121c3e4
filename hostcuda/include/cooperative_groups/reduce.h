// hostcuda: cg::reduce, for tiles and coalesced groups.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define HOSTCUDA_OPERATOR(name, result)             \
  template <class T>                                \
  struct name {                                     \
    T operator()(T a, T b) const { return result; } \
  };
HOSTCUDA_OPERATOR(plus, a + b)
HOSTCUDA_OPERATOR(less, b < a ? b : a)
HOSTCUDA_OPERATOR(greater, a < b ? b : a)
HOSTCUDA_OPERATOR(bit_and, a& b)
HOSTCUDA_OPERATOR(bit_or, a | b)
HOSTCUDA_OPERATOR(bit_xor, a ^ b)
#undef HOSTCUDA_OPERATOR

// Reduces in rank order. A GPU uses another order, which is not specified.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, const Operation& operation, HOSTCUDA_HERE) {
  if constexpr (details::kIsLarge<Group>) {
    return group.reduce(value, operation, file, line);
  } else {
    const unsigned mask = group.lanes();
    return hostcuda::fold(hostcuda::gather(mask, value, file, line), mask, operation);
  }
}

}  // namespace cooperative_groups
