// hostcuda: cub::WarpMergeSort.
#pragma once

#include "../detail/merge_sort.cuh"
#include "warp_reduce.cuh"

namespace cub {
namespace detail {

template <int kWidth>
struct threads_of_warp {
  int rank() const { return lanes<kWidth>::rank(); }
  void barrier() const { __syncwarp(lanes<kWidth>::mask()); }
};

}  // namespace detail

template <class Key, int ITEMS_PER_THREAD, int LOGICAL_WARP_THREADS = 32, class Value = NullType,
          int = 0>
class WarpMergeSort : public detail::merge_sort<Key, Value, LOGICAL_WARP_THREADS, ITEMS_PER_THREAD,
                                                detail::threads_of_warp<LOGICAL_WARP_THREADS>> {
 public:
  using TempStorage = typename WarpMergeSort::merge_sort::TempStorage;
  explicit WarpMergeSort(TempStorage& storage) : WarpMergeSort::merge_sort(storage, {}) {}
};

}  // namespace cub
