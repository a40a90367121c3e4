// hostcuda: cub::BlockDiscontinuity, which flags the items that differ from their neighbours.
#pragma once

#include "../detail/neighbours.cuh"

namespace cub {

template <class T, int BLOCK_DIM_X, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int = 0>
class BlockDiscontinuity {
  using Neighbours = detail::neighbours<T, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z>;

 public:
  using TempStorage = typename Neighbours::TempStorage;

  BlockDiscontinuity()
      : BlockDiscontinuity(detail::private_storage<TempStorage, BlockDiscontinuity>()) {}
  explicit BlockDiscontinuity(TempStorage& storage) : items_(storage, "cub::BlockDiscontinuity") {}

  // The first item of the block gets a flag unless `predecessor`, the item before it, is given.
  template <int N, class Flag, class Differ>
  void FlagHeads(Flag (&heads)[N], T (&input)[N], Differ differ) {
    items_.exchange(input);
    flag_heads(heads, input, differ);
  }
  template <int N, class Flag, class Differ>
  void FlagHeads(Flag (&heads)[N], T (&input)[N], Differ differ, T predecessor) {
    items_.exchange(input);
    flag_heads(heads, input, differ, &predecessor);
  }
  template <int N, class Flag, class Differ>
  void FlagTails(Flag (&tails)[N], T (&input)[N], Differ differ) {
    items_.exchange(input);
    flag_tails(tails, input, differ);
  }
  template <int N, class Flag, class Differ>
  void FlagTails(Flag (&tails)[N], T (&input)[N], Differ differ, T successor) {
    items_.exchange(input);
    flag_tails(tails, input, differ, &successor);
  }
  template <int N, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[N], Flag (&tails)[N], T (&input)[N], Differ differ) {
    items_.exchange(input);
    flag_heads(heads, input, differ);
    flag_tails(tails, input, differ);
  }
  template <int N, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[N], Flag (&tails)[N], T successor, T (&input)[N],
                         Differ differ) {
    items_.exchange(input);
    flag_heads(heads, input, differ);
    flag_tails(tails, input, differ, &successor);
  }
  template <int N, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[N], T predecessor, Flag (&tails)[N], T (&input)[N],
                         Differ differ) {
    items_.exchange(input);
    flag_heads(heads, input, differ, &predecessor);
    flag_tails(tails, input, differ);
  }
  template <int N, class Flag, class Differ>
  void FlagHeadsAndTails(Flag (&heads)[N], T predecessor, Flag (&tails)[N], T successor,
                         T (&input)[N], Differ differ) {
    items_.exchange(input);
    flag_heads(heads, input, differ, &predecessor);
    flag_tails(tails, input, differ, &successor);
  }

 private:
  // The functor may have a third parameter: the index in the block of the pair's second item.
  template <class Flag, class Differ>
  static Flag flag(Differ& differ, const T& a, const T& b, int index) {
    if constexpr (std::is_invocable_v<Differ&, const T&, const T&, int>)
      return static_cast<Flag>(differ(a, b, index));
    else
      return static_cast<Flag>(differ(a, b));
  }
  template <int N, class Flag, class Differ>
  void flag_heads(Flag (&heads)[N], T (&input)[N], Differ& differ, T* predecessor = nullptr) {
    for (int i = 0; i < N; ++i) {
      T* before = i ? &input[i - 1] : items_.before(predecessor);
      heads[i] = before ? flag<Flag>(differ, *before, input[i], items_.index(i, N)) : Flag(1);
    }
  }
  template <int N, class Flag, class Differ>
  void flag_tails(Flag (&tails)[N], T (&input)[N], Differ& differ, T* successor = nullptr) {
    for (int i = 0; i < N; ++i) {
      T* after = i + 1 < N ? &input[i + 1] : items_.after(successor);
      tails[i] = after ? flag<Flag>(differ, input[i], *after, items_.index(i, N) + 1) : Flag(1);
    }
  }

  Neighbours items_;
};

}  // namespace cub
