// hostcuda: the items of a thread's neighbours in its block.
#pragma once

#include "block.cuh"

namespace cub {
namespace detail {

template <class T, int X, int Y, int Z>
class neighbours {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage {
    storage<T, kThreads> first, last;
  };

  neighbours(TempStorage& storage, const char* primitive)
      : storage_(storage), thread_(linear_thread<X, Y, Z>(primitive)) {}

  // Every thread of the block calls this function before any thread calls before() or after().
  template <int N>
  void exchange(const T (&items)[N]) {
    storage_.first[thread_] = items[0];
    storage_.last[thread_] = items[N - 1];
    __syncthreads();
  }
  // The item before the thread's first one; of_tile: what the first thread gets.
  T* before(T* of_tile) const { return thread_ == 0 ? of_tile : &storage_.last[thread_ - 1]; }
  T* after(T* of_tile) const {
    return thread_ == kThreads - 1 ? of_tile : &storage_.first[thread_ + 1];
  }
  int index(int i, int per_thread) const { return thread_ * per_thread + i; }

 private:
  TempStorage& storage_;
  int thread_;
};

}  // namespace detail
}  // namespace cub
