// hostcuda: cub::BlockRadixSort.
#pragma once

#include "../detail/block.cuh"
#include "../detail/radix.cuh"
#include "block_scan.cuh"

namespace cub {

template <class Key, int BLOCK_DIM_X, int ITEMS_PER_THREAD, class Value = NullType, int = 4,
          bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 0, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockRadixSort {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, N = ITEMS_PER_THREAD;
  static constexpr int kItems = kThreads * N, kBits = 8 * sizeof(Key);

 public:
  struct TempStorage {
    detail::storage<Key, kItems> keys[2];
    detail::storage<Value, kItems> values[2];
    std::uint64_t places[detail::kDigits];
  };

  BlockRadixSort() : BlockRadixSort(detail::private_storage<TempStorage, BlockRadixSort>()) {}
  explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define HOSTCUDA_SORT(Name, descending, striped)                                        \
  void Name(Key(&keys)[N], int begin_bit = 0, int end_bit = kBits) {                    \
    sort(keys, kNone, {begin_bit, end_bit, descending}, striped);                       \
  }                                                                                     \
  void Name(Key(&keys)[N], Value(&values)[N], int begin_bit = 0, int end_bit = kBits) { \
    sort(keys, values, {begin_bit, end_bit, descending}, striped);                      \
  }
  HOSTCUDA_SORT(Sort, false, false)
  HOSTCUDA_SORT(SortDescending, true, false)
  HOSTCUDA_SORT(SortBlockedToStriped, false, true)
#undef HOSTCUDA_SORT

 private:
  static constexpr struct none {
  } kNone{};

  template <class Values>
  void sort(Key (&keys)[N], Values& values, detail::radix_order order, bool striped) {
    constexpr bool has_values = !std::is_same_v<std::remove_cv_t<Values>, none>;
    for (int i = 0; i < N; ++i) {
      storage_.keys[0][thread_ * N + i] = keys[i];
      if constexpr (has_values) storage_.values[0][thread_ * N + i] = values[i];
    }
    __syncthreads();
    int now = 0;
    for (int pass = 0; pass < order.passes(); ++pass, now ^= 1)
      if (thread_ == 0) one_pass<has_values>(order, pass, now);
    __syncthreads();
    for (int i = 0; i < N; ++i) {
      const int from = striped ? i * kThreads + thread_ : thread_ * N + i;
      keys[i] = storage_.keys[now][from];
      if constexpr (has_values) values[i] = storage_.values[now][from];
    }
  }

  template <bool kHasValues>
  void one_pass(const detail::radix_order& order, int pass, int now) {
    using Moved = std::conditional_t<kHasValues, Value, NullType>;
    const auto values = [&](int which) {
      return reinterpret_cast<Moved*>(storage_.values[which].bytes);
    };
    detail::radix_pass(order, pass, &storage_.keys[now][0], &storage_.keys[now ^ 1][0], values(now),
                       values(now ^ 1), kItems, storage_.places);
  }

  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockRadixSort");
};

}  // namespace cub
