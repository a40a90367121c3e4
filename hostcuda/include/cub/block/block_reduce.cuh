// hostcuda: cub::BlockReduce. Only thread 0 has the result; the values that the other threads get
// are unspecified.
#pragma once

#include "../detail/block.cuh"
#include "../thread_operators.cuh"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int BLOCK_DIM_X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockReduce {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  using TempStorage = detail::storage<T, kThreads>;

  BlockReduce() : BlockReduce(detail::private_storage<TempStorage, BlockReduce>()) {}
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  // Reduces the values of the first num_valid threads.
  template <class Operation>
  T Reduce(T input, Operation operation, int num_valid) {
    if (thread_ < num_valid) storage_[thread_] = input;
    __syncthreads();
    if (thread_ != 0) return detail::unspecified(input);
    T result = storage_[0];
    for (int i = 1; i < num_valid; ++i) result = operation(result, storage_[i]);
    return result;
  }
  template <class Operation>
  T Reduce(T input, Operation operation) {
    return Reduce(input, operation, kThreads);
  }
  template <int N, class Operation>
  T Reduce(T (&inputs)[N], Operation operation) {
    return Reduce(detail::reduced(inputs, operation), operation);
  }
  T Sum(T input) { return Reduce(input, cub::Sum()); }
  T Sum(T input, int num_valid) { return Reduce(input, cub::Sum(), num_valid); }
  template <int N>
  T Sum(T (&inputs)[N]) {
    return Reduce(inputs, cub::Sum());
  }

 private:
  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockReduce");
};

}  // namespace cub
