// hostcuda: cub::WarpExchange, which rearranges a warp's items.
#pragma once

#include "warp_reduce.cuh"

namespace cub {

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

template <class T, int ITEMS_PER_THREAD, int LOGICAL_WARP_THREADS = 32, int = 0,
          WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM>
class WarpExchange {
  using Lanes = detail::lanes<LOGICAL_WARP_THREADS>;
  static constexpr int kLanes = LOGICAL_WARP_THREADS, N = ITEMS_PER_THREAD;

 public:
  using TempStorage = detail::storage<T, kLanes * N>;

  explicit WarpExchange(TempStorage& storage) : storage_(storage) {}

  template <class Out>
  void BlockedToStriped(const T (&input)[N], Out (&output)[N]) {
    for (int i = 0; i < N; ++i) storage_[lane_ * N + i] = input[i];
    take(output, lane_, kLanes);
  }
  template <class Out>
  void StripedToBlocked(const T (&input)[N], Out (&output)[N]) {
    for (int i = 0; i < N; ++i) storage_[i * kLanes + lane_] = input[i];
    take(output, lane_ * N, 1);
  }
  template <class Rank>
  void ScatterToStriped(T (&items)[N], Rank (&ranks)[N]) {
    ScatterToStriped(items, items, ranks);
  }
  template <class Out, class Rank>
  void ScatterToStriped(const T (&input)[N], Out (&output)[N], Rank (&ranks)[N]) {
    for (int i = 0; i < N; ++i) storage_[ranks[i]] = input[i];
    take(output, lane_, kLanes);
  }

 private:
  template <class Out>
  void take(Out (&output)[N], int first, int step) {
    __syncwarp(Lanes::mask());
    for (int i = 0; i < N; ++i) output[i] = storage_[first + i * step];
  }

  TempStorage& storage_;
  int lane_ = Lanes::rank();
};

}  // namespace cub
