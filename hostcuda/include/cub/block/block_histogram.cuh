// hostcuda: cub::BlockHistogram, which counts by atomics.
#pragma once

#include "../detail/block.cuh"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, int BINS,
          BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1,
          int = 0>
class BlockHistogram {
 public:
  using TempStorage = NullType;

  BlockHistogram() = default;
  explicit BlockHistogram(TempStorage&) {}

  template <class Counter>
  void InitHistogram(Counter (&histogram)[BINS]) {
    constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
    for (int bin = thread_; bin < BINS; bin += kThreads) histogram[bin] = 0;
  }
  template <class Counter>
  void Histogram(T (&items)[ITEMS_PER_THREAD], Counter (&histogram)[BINS]) {
    InitHistogram(histogram);
    __syncthreads();
    Composite(items, histogram);
  }
  // Adds the items to a histogram that has been initialised.
  template <class Counter>
  void Composite(T (&items)[ITEMS_PER_THREAD], Counter (&histogram)[BINS]) {
    for (const T& item : items) atomicAdd(&histogram[item], Counter(1));
  }

 private:
  int thread_ = detail::linear_thread<BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>("cub::BlockHistogram");
};

}  // namespace cub
