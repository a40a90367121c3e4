// hostcuda: cub::BlockShuffle, which moves items between the threads of a block.
#pragma once

#include "../detail/block.cuh"

namespace cub {

template <class T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockShuffle {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  using TempStorage = detail::storage<T, kThreads>;

  BlockShuffle() : BlockShuffle(detail::private_storage<TempStorage, BlockShuffle>()) {}
  explicit BlockShuffle(TempStorage& storage) : storage_(storage) {}

  // The output stays as it is if no thread has that distance.
  void Offset(T input, T& output, int distance = 1) {
    exchange(input);
    const int from = thread_ + distance;
    if (from >= 0 && from < kThreads) output = storage_[from];
  }
  void Rotate(T input, T& output, unsigned distance = 1) {
    exchange(input);
    output = storage_[(thread_ + static_cast<int>(distance)) % kThreads];
  }
  // Moves all items of the block up by one. The first item of the block is unchanged.
  template <int N>
  void Up(T (&input)[N], T (&prev)[N]) {
    exchange(input[N - 1]);
    for (int i = N - 1; i > 0; --i) prev[i] = input[i - 1];
    if (thread_ > 0) prev[0] = storage_[thread_ - 1];
  }
  template <int N>
  void Up(T (&input)[N], T (&prev)[N], T& block_suffix) {
    Up(input, prev);
    block_suffix = storage_[kThreads - 1];
  }
  template <int N>
  void Down(T (&input)[N], T (&next)[N]) {
    exchange(input[0]);
    for (int i = 0; i < N - 1; ++i) next[i] = input[i + 1];
    if (thread_ < kThreads - 1) next[N - 1] = storage_[thread_ + 1];
  }
  template <int N>
  void Down(T (&input)[N], T (&next)[N], T& block_prefix) {
    Down(input, next);
    block_prefix = storage_[0];
  }

 private:
  void exchange(const T& item) {
    storage_[thread_] = item;
    __syncthreads();
  }

  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockShuffle");
};

}  // namespace cub
