// hostcuda: cub::WarpReduce. Only lane 0 has the result; the values that the other lanes get are
// unspecified.
#pragma once

#include "../detail/block.cuh"
#include "../thread_operators.cuh"

namespace cub {
namespace detail {

// A warp divided into groups of kWidth lanes, each of which works separately.
template <int kWidth>
struct lanes {
  static_assert(kWidth >= 1 && kWidth <= 32, "a warp has 32 lanes");
  // If the width is not a power of two, a warp holds as many whole groups as fit.
  static int group() { return hostcuda::lane() / kWidth; }
  static int rank() { return hostcuda::lane() - group() * kWidth; }
  // Leaves out lanes that do not exist: a block's last warp may have fewer than 32 lanes.
  static unsigned mask() {
    const unsigned own =
        kWidth == 32 ? 0xffffffffu : ((1u << (kWidth % 32)) - 1) << (group() * kWidth % 32);
    return hostcuda::existing_lanes() & own;
  }
  static int count() { return __builtin_popcount(mask()); }
};

// The values of a group's lanes, indexed by rank in the group.
template <int kWidth, class T>
struct group_values {
  hostcuda::Gathered<T> all;
  const T& operator[](int rank) const {
    return all.of_lane[lanes<kWidth>::group() * kWidth + rank];
  }
};
template <int kWidth, class T>
group_values<kWidth, T> gather(const T& value, const char* file, int line) {
  return {hostcuda::gather(lanes<kWidth>::mask(), value, file, line)};
}

}  // namespace detail

template <class T, int LOGICAL_WARP_THREADS = 32, int = 0>
class WarpReduce {
  using Lanes = detail::lanes<LOGICAL_WARP_THREADS>;

 public:
  using TempStorage = NullType;
  explicit WarpReduce(TempStorage&) {}

  template <class Operation>
  T Reduce(T input, Operation operation, int valid_items, HOSTCUDA_HERE) {
    const auto values = detail::gather<LOGICAL_WARP_THREADS>(input, file, line);
    if (Lanes::rank() != 0) return detail::unspecified(input);
    T result = values[0];
    for (int i = 1; i < valid_items && i < Lanes::count(); ++i)
      result = operation(result, values[i]);
    return result;
  }
  template <class Operation>
  T Reduce(T input, Operation operation, HOSTCUDA_HERE) {
    return Reduce(input, operation, LOGICAL_WARP_THREADS, file, line);
  }
  T Sum(T input, HOSTCUDA_HERE) { return Reduce(input, cub::Sum(), file, line); }
  T Sum(T input, int valid_items, HOSTCUDA_HERE) {
    return Reduce(input, cub::Sum(), valid_items, file, line);
  }
};

}  // namespace cub
