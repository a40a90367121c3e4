// hostcuda: cg::reduce, for tiles and coalesced groups.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

// In the order of the ranks. The order of a GPU is another one, and not promised.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, const Operation& operation, HOSTCUDA_HERE) {
  const unsigned mask = group.lanes();
  return hostcuda::fold(hostcuda::gather(mask, value, file, line), mask, operation);
}

}  // namespace cooperative_groups
