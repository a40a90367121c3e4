// hostcuda: cub::BlockScan.
#pragma once

#include "../detail/block.cuh"
#include "../thread_operators.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int BLOCK_DIM_X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockScan {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  // `before` holds, for each thread, the sum of the values of the threads before it. The other
  // members hold the block's sum and a callback's prefix.
  struct TempStorage {
    detail::storage<T, kThreads> before;
    detail::storage<T, 1> total;
    detail::storage<T, 1> prefix;
  };

  BlockScan() : BlockScan(detail::private_storage<TempStorage, BlockScan>()) {}
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  // ---- scans of arrays: a thread's items follow the items of the thread before it --------------
  template <int N, class Operation>
  void InclusiveScan(T (&input)[N], T (&output)[N], Operation operation) {
    T total;
    InclusiveScan(input, output, operation, total);
  }
  template <int N, class Operation>
  void InclusiveScan(T (&input)[N], T (&output)[N], Operation operation, T& block_aggregate) {
    T sum;
    const bool has_before = combine(detail::reduced(input, operation), operation, sum);
    for (int i = 0; i < N; ++i) {
      sum = i > 0 || has_before ? T(operation(sum, input[i])) : input[i];
      output[i] = sum;
    }
    block_aggregate = storage_.total[0];
  }
  template <int N, class Operation>
  void ExclusiveScan(T (&input)[N], T (&output)[N], T initial, Operation operation,
                     T& block_aggregate) {
    T sum;
    const bool has_before = combine(detail::reduced(input, operation), operation, sum);
    sum = has_before ? T(operation(initial, sum)) : initial;
    write_exclusively(input, output, sum, operation);
    block_aggregate = storage_.total[0];
  }
  template <int N, class Operation>
  void ExclusiveScan(T (&input)[N], T (&output)[N], T initial, Operation operation) {
    T total;
    ExclusiveScan(input, output, initial, operation, total);
  }
  // The first warp calls prefix(sum of the block). The scan starts with the value that the
  // call returns in lane 0.
  template <int N, class Operation, class Prefix>
  std::enable_if_t<std::is_invocable_v<Prefix&, T>> ExclusiveScan(T (&input)[N], T (&output)[N],
                                                                  Operation operation,
                                                                  Prefix& prefix) {
    T sum;
    const bool has_before = combine(detail::reduced(input, operation), operation, sum);
    const T begin = shared_prefix(prefix);
    write_exclusively(input, output, has_before ? T(operation(begin, sum)) : begin, operation);
  }
  template <int N, class Operation, class Prefix>
  std::enable_if_t<std::is_invocable_v<Prefix&, T>> InclusiveScan(T (&input)[N], T (&output)[N],
                                                                  Operation operation,
                                                                  Prefix& prefix) {
    T sum;
    const bool has_before = combine(detail::reduced(input, operation), operation, sum);
    const T begin = shared_prefix(prefix);
    sum = has_before ? T(operation(begin, sum)) : begin;
    for (int i = 0; i < N; ++i) output[i] = sum = operation(sum, input[i]);
  }
  template <int N, class... Rest>
  void InclusiveSum(T (&input)[N], T (&output)[N], Rest&... rest) {
    InclusiveScan(input, output, cub::Sum(), rest...);
  }
  template <int N>
  void ExclusiveSum(T (&input)[N], T (&output)[N]) {
    ExclusiveScan(input, output, T(), cub::Sum());
  }
  template <int N, class Rest>  // Rest: a T for the block's sum, or a callback
  void ExclusiveSum(T (&input)[N], T (&output)[N], Rest& rest) {
    if constexpr (std::is_same_v<Rest, T>)
      ExclusiveScan(input, output, T(), cub::Sum(), rest);
    else
      ExclusiveScan(input, output, cub::Sum(), rest);
  }

  // ---- scans of one item per thread ------------------------------------------------------------
  template <class Operation, class... Rest>
  void InclusiveScan(T input, T& output, Operation operation, Rest&... rest) {
    T in[1] = {input}, out[1];
    InclusiveScan(in, out, operation, rest...);
    output = out[0];
  }
  template <class... Rest>
  void InclusiveSum(T input, T& output, Rest&... rest) {
    InclusiveScan(input, output, cub::Sum(), rest...);
  }
  template <class Operation, class... Rest,
            class = std::enable_if_t<std::is_invocable_v<Operation&, T, T>>>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, Rest&... rest) {
    T in[1] = {input}, out[1];
    ExclusiveScan(in, out, initial, operation, rest...);
    output = out[0];
  }
  template <class... Rest>
  void ExclusiveSum(T input, T& output, Rest&... rest) {
    T in[1] = {input}, out[1];
    ExclusiveSum(in, out, rest...);
    output = out[0];
  }

 private:
  // Stores the sum of the threads before this one in `before`; returns false for the first thread.
  template <class Operation>
  bool combine(T own, Operation operation, T& before) {
    storage_.before[thread_] = own;
    __syncthreads();
    if (thread_ == 0) {
      T sum = storage_.before[0];
      for (int i = 1; i < kThreads; ++i) {
        const T value = storage_.before[i];
        storage_.before[i] = sum;
        sum = operation(sum, value);
      }
      storage_.total[0] = sum;
    }
    __syncthreads();
    before = storage_.before[thread_];
    return thread_ > 0;
  }

  template <class Prefix>
  T shared_prefix(Prefix& prefix) {
    if (thread_ < warpSize) {
      const T begin = prefix(static_cast<const T&>(storage_.total[0]));
      if (thread_ == 0) storage_.prefix[0] = begin;
    }
    __syncthreads();
    return storage_.prefix[0];
  }

  template <int N, class Operation>
  static void write_exclusively(T (&input)[N], T (&output)[N], T sum, Operation operation) {
    for (int i = 0; i < N; ++i) {
      const T value = input[i];  // input and output may be the same array
      output[i] = sum;
      sum = operation(sum, value);
    }
  }

  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockScan");
};

}  // namespace cub
