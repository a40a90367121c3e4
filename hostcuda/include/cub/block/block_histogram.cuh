// hostcuda: cub::BlockHistogram, which counts by atomics.
#pragma once

#include "../detail/block.cuh"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, int BINS,
          BlockHistogramAlgorithm ALGORITHM = BLOCK_HISTO_SORT, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockHistogram {
  static constexpr bool kAtomic = ALGORITHM == BLOCK_HISTO_ATOMIC;

 public:
  using TempStorage =
      std::conditional_t<kAtomic, NullType, detail::storage<unsigned, kAtomic ? 1 : BINS>>;

  BlockHistogram() : BlockHistogram(detail::private_storage<TempStorage, BlockHistogram>()) {}
  explicit BlockHistogram(TempStorage& storage) : storage_(storage) {}

  template <class Counter>
  void InitHistogram(Counter* histogram) {
    each_own_bin([&](int bin) { histogram[bin] = 0; });
  }
  template <class Counter>
  void Histogram(T (&items)[ITEMS_PER_THREAD], Counter* histogram) {
    InitHistogram(histogram);
    __syncthreads();
    Composite(items, histogram);
  }
  // Adds the items to a histogram that has been initialised. As in CUB, BLOCK_HISTO_SORT counts in
  // TempStorage, and each thread then accesses the same bins as in InitHistogram, so no barrier is
  // necessary in between.
  template <class Counter>
  void Composite(T (&items)[ITEMS_PER_THREAD], Counter* histogram) {
    if constexpr (kAtomic) {
      for (const T& item : items) atomicAdd(&histogram[item], Counter(1));
    } else {
      each_own_bin([&](int bin) { storage_[bin] = 0; });
      __syncthreads();
      for (const T& item : items) atomicAdd(&storage_[static_cast<int>(item)], 1u);
      __syncthreads();
      each_own_bin([&](int bin) {
        histogram[bin] = static_cast<Counter>(histogram[bin] + static_cast<Counter>(storage_[bin]));
      });
    }
  }

 private:
  template <class Action>
  void each_own_bin(Action action) const {
    constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
    for (int bin = thread_; bin < BINS; bin += kThreads) action(bin);
  }

  TempStorage& storage_;
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockHistogram");
};

}  // namespace cub
