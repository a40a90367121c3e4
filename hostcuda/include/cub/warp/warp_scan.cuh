// hostcuda: cub::WarpScan.
#pragma once

#include "warp_reduce.cuh"

namespace cub {

template <class T, int LOGICAL_WARP_THREADS = 32, int = 0>
class WarpScan {
  using Lanes = detail::lanes<LOGICAL_WARP_THREADS>;

 public:
  using TempStorage = NullType;
  explicit WarpScan(TempStorage&) {}

  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation, HOSTCUDA_HERE) {
    const auto values = detail::gather<LOGICAL_WARP_THREADS>(input, file, line);
    output = folded(values, 0, Lanes::rank() + 1, operation);
  }
  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& warp_aggregate, HOSTCUDA_HERE) {
    const auto values = detail::gather<LOGICAL_WARP_THREADS>(input, file, line);
    output = folded(values, 0, Lanes::rank() + 1, operation);
    warp_aggregate = folded(values, 0, Lanes::count(), operation);
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, HOSTCUDA_HERE) {
    T total;
    ExclusiveScan(input, output, initial, operation, total, file, line);
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, T& warp_aggregate,
                     HOSTCUDA_HERE) {
    const auto values = detail::gather<LOGICAL_WARP_THREADS>(input, file, line);
    const int rank = Lanes::rank();
    output = rank == 0 ? initial : T(operation(initial, folded(values, 0, rank, operation)));
    warp_aggregate = folded(values, 0, Lanes::count(), operation);
  }
  // Without an initial value, the output of the first lane is undefined.
  template <class Operation>
  void ExclusiveScan(T input, T& output, Operation operation, HOSTCUDA_HERE) {
    T total;
    ExclusiveScan(input, output, operation, total, file, line);
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, Operation operation, T& warp_aggregate, HOSTCUDA_HERE) {
    const auto values = detail::gather<LOGICAL_WARP_THREADS>(input, file, line);
    if (const int rank = Lanes::rank()) output = folded(values, 0, rank, operation);
    warp_aggregate = folded(values, 0, Lanes::count(), operation);
  }
  template <class Operation>
  void Scan(T input, T& inclusive_output, T& exclusive_output, Operation operation, HOSTCUDA_HERE) {
    const auto values = detail::gather<LOGICAL_WARP_THREADS>(input, file, line);
    const int rank = Lanes::rank();
    inclusive_output = folded(values, 0, rank + 1, operation);
    if (rank > 0) exclusive_output = folded(values, 0, rank, operation);
  }
  template <class Operation>
  void Scan(T input, T& inclusive_output, T& exclusive_output, T initial, Operation operation,
            HOSTCUDA_HERE) {
    const auto values = detail::gather<LOGICAL_WARP_THREADS>(input, file, line);
    const int rank = Lanes::rank();
    inclusive_output = operation(initial, folded(values, 0, rank + 1, operation));
    exclusive_output =
        rank == 0 ? initial : T(operation(initial, folded(values, 0, rank, operation)));
  }
  void InclusiveSum(T input, T& output, HOSTCUDA_HERE) {
    InclusiveScan(input, output, cub::Sum(), file, line);
  }
  void InclusiveSum(T input, T& output, T& warp_aggregate, HOSTCUDA_HERE) {
    InclusiveScan(input, output, cub::Sum(), warp_aggregate, file, line);
  }
  void ExclusiveSum(T input, T& output, HOSTCUDA_HERE) {
    ExclusiveScan(input, output, T(), cub::Sum(), file, line);
  }
  void ExclusiveSum(T input, T& output, T& warp_aggregate, HOSTCUDA_HERE) {
    ExclusiveScan(input, output, T(), cub::Sum(), warp_aggregate, file, line);
  }
  T Broadcast(T input, unsigned from, HOSTCUDA_HERE) {
    return detail::gather<LOGICAL_WARP_THREADS>(input, file, line)[static_cast<int>(from)];
  }

 private:
  template <class Values, class Operation>
  static T folded(const Values& values, int first, int last, Operation operation) {
    T result = values[first];
    for (int i = first + 1; i < last; ++i) result = operation(result, values[i]);
    return result;
  }
};

}  // namespace cub
