// hostcuda: cub::BlockExchange, which rearranges a block's items from blocked to striped or back.
#pragma once

#include "../detail/block.cuh"

namespace cub {

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, bool = false, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockExchange {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, N = ITEMS_PER_THREAD;

 public:
  using TempStorage = detail::storage<T, kThreads * N>;

  BlockExchange() : BlockExchange(detail::private_storage<TempStorage, BlockExchange>()) {}
  explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

  void StripedToBlocked(T (&items)[N]) { StripedToBlocked(items, items); }
  void StripedToBlocked(T (&input)[N], T (&output)[N]) {
    for (int i = 0; i < N; ++i) storage_[i * kThreads + thread_] = input[i];
    __syncthreads();
    for (int i = 0; i < N; ++i) output[i] = storage_[thread_ * N + i];
  }
  void BlockedToStriped(T (&items)[N]) { BlockedToStriped(items, items); }
  void BlockedToStriped(T (&input)[N], T (&output)[N]) {
    for (int i = 0; i < N; ++i) storage_[thread_ * N + i] = input[i];
    __syncthreads();
    for (int i = 0; i < N; ++i) output[i] = storage_[i * kThreads + thread_];
  }

 private:
  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockExchange");
};

}  // namespace cub
