// hostcuda: cub::BlockMergeSort.
#pragma once

#include "../detail/merge_sort.cuh"

namespace cub {
namespace detail {

template <int X, int Y, int Z>
struct threads_of_block {
  int own = linear_thread<X, Y, Z>("cub::BlockMergeSort");
  int rank() const { return own; }
  void barrier() const { __syncthreads(); }
};

}  // namespace detail

template <class Key, int BLOCK_DIM_X, int ITEMS_PER_THREAD, class Value = NullType,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1>
class BlockMergeSort
    : public detail::merge_sort<Key, Value, BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z,
                                ITEMS_PER_THREAD,
                                detail::threads_of_block<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>> {
 public:
  using TempStorage = typename BlockMergeSort::merge_sort::TempStorage;
  BlockMergeSort() : BlockMergeSort(detail::private_storage<TempStorage, BlockMergeSort>()) {}
  explicit BlockMergeSort(TempStorage& storage) : BlockMergeSort::merge_sort(storage, {}) {}
};

}  // namespace cub
