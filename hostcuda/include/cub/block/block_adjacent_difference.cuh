// hostcuda: cub::BlockAdjacentDifference, which combines each item with its neighbour. An item
// without a neighbour is copied. As in CUB, the functor may take its arguments by T&.
#pragma once

#include <climits>

#include "../detail/neighbours.cuh"

namespace cub {

template <class T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockAdjacentDifference {
  using Neighbours = detail::neighbours<T, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  using TempStorage = typename Neighbours::TempStorage;

  BlockAdjacentDifference()
      : BlockAdjacentDifference(detail::private_storage<TempStorage, BlockAdjacentDifference>()) {}
  explicit BlockAdjacentDifference(TempStorage& storage)
      : items_(storage, "cub::BlockAdjacentDifference") {}

  template <int N, class Out, class Difference>
  void SubtractLeft(T (&input)[N], Out (&output)[N], Difference difference) {
    left(input, output, difference, INT_MAX, nullptr);
  }
  template <int N, class Out, class Difference>
  void SubtractLeft(T (&input)[N], Out (&output)[N], Difference difference, T predecessor) {
    left(input, output, difference, INT_MAX, &predecessor);
  }
  template <int N, class Out, class Difference>
  void SubtractLeftPartialTile(T (&input)[N], Out (&output)[N], Difference difference,
                               int valid_items) {
    left(input, output, difference, valid_items, nullptr);
  }
  template <int N, class Out, class Difference>
  void SubtractLeftPartialTile(T (&input)[N], Out (&output)[N], Difference difference,
                               int valid_items, T predecessor) {
    left(input, output, difference, valid_items, &predecessor);
  }
  template <int N, class Out, class Difference>
  void SubtractRight(T (&input)[N], Out (&output)[N], Difference difference) {
    right(input, output, difference, INT_MAX, nullptr);
  }
  template <int N, class Out, class Difference>
  void SubtractRight(T (&input)[N], Out (&output)[N], Difference difference, T successor) {
    right(input, output, difference, INT_MAX, &successor);
  }
  template <int N, class Out, class Difference>
  void SubtractRightPartialTile(T (&input)[N], Out (&output)[N], Difference difference,
                                int valid_items) {
    right(input, output, difference, valid_items, nullptr);
  }

 private:
  // `input` and `output` may be the same array, so these loops run towards the neighbour last used.
  template <int N, class Out, class Difference>
  void left(T (&input)[N], Out (&output)[N], Difference& difference, int valid, T* predecessor) {
    items_.exchange(input);
    for (int i = N - 1; i >= 0; --i) {
      T* before = i ? &input[i - 1] : items_.before(predecessor);
      output[i] =
          before && items_.index(i, N) < valid ? Out(difference(input[i], *before)) : Out(input[i]);
    }
  }
  template <int N, class Out, class Difference>
  void right(T (&input)[N], Out (&output)[N], Difference& difference, int valid, T* successor) {
    items_.exchange(input);
    for (int i = 0; i < N; ++i) {
      T* after = i + 1 < N ? &input[i + 1] : items_.after(successor);
      output[i] = after && items_.index(i, N) < valid - 1 ? Out(difference(input[i], *after))
                                                          : Out(input[i]);
    }
  }

  Neighbours items_;
};

}  // namespace cub
