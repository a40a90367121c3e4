// hostcuda: the stable sort of cub::BlockMergeSort and cub::WarpMergeSort.
#pragma once

#include "block.cuh"

namespace cub {
namespace detail {

// Threads is a group of kThreads threads, with rank() and barrier(). One of them sorts.
template <class Key, class Value, int kThreads, int N, class Threads>
class merge_sort {
  static constexpr int kItems = kThreads * N;

 public:
  struct TempStorage {
    storage<Key, kItems> keys[2];
    storage<Value, kItems> values[2];
  };

  template <class Less>
  void Sort(Key (&keys)[N], Less less) {
    sort(keys, nullptr, less, kItems);
  }
  // Sorts the first valid_items keys. Those after them become oob_default.
  template <class Less>
  void Sort(Key (&keys)[N], Less less, int valid_items, Key oob_default) {
    sort(keys, nullptr, less, valid_items);
    fill(keys, valid_items, oob_default);
  }
  template <class Less>
  void Sort(Key (&keys)[N], Value (&items)[N], Less less) {
    sort(keys, items, less, kItems);
  }
  template <class Less>
  void Sort(Key (&keys)[N], Value (&items)[N], Less less, int valid_items, Key oob_default) {
    sort(keys, items, less, valid_items);
    fill(keys, valid_items, oob_default);
  }
  template <class... Rest>
  void StableSort(Key (&keys)[N], Rest&&... rest) {
    Sort(keys, static_cast<Rest&&>(rest)...);
  }

 protected:
  merge_sort(TempStorage& storage, const Threads& threads) : storage_(storage), threads_(threads) {}

 private:
  int index(int i) const { return threads_.rank() * N + i; }

  void fill(Key (&keys)[N], int valid, const Key& key) const {
    for (int i = 0; i < N; ++i)
      if (index(i) >= valid) keys[i] = key;
  }
  template <class Less>
  void sort(Key (&keys)[N], Value* items, Less& less, int count) {
    for (int i = 0; i < N; ++i) {
      storage_.keys[0][index(i)] = keys[i];
      if (items) storage_.values[0][index(i)] = items[i];
    }
    threads_.barrier();
    const bool swapped = rounds(count) % 2 == 1;
    if (threads_.rank() == 0) merge_all(items != nullptr, less, count);
    threads_.barrier();
    for (int i = 0; i < N && index(i) < count; ++i) {
      keys[i] = storage_.keys[swapped][index(i)];
      if (items) items[i] = storage_.values[swapped][index(i)];
    }
  }
  static int rounds(int count) {
    int number = 0;
    for (int run = 1; run < count; run *= 2) ++number;
    return number;
  }
  // Each round merges runs of 1, 2, 4, ... keys into the other half of the memory.
  template <class Less>
  void merge_all(bool has_values, Less& less, int count) {
    const auto at_most = [count](int i) { return i < count ? i : count; };
    for (int run = 1, now = 0; run < count; run *= 2, now ^= 1)
      for (int begin = 0; begin < count; begin += 2 * run)
        merge(has_values, less, now, begin, at_most(begin + run), at_most(begin + 2 * run));
  }
  template <class Less>
  void merge(bool has_values, Less& less, int now, int begin, int middle, int end) {
    auto& keys = storage_.keys[now];
    for (int out = begin, a = begin, b = middle; out < end; ++out) {
      const bool takes_second = a == middle || (b < end && less(keys[b], keys[a]));
      const int from = takes_second ? b++ : a++;
      storage_.keys[now ^ 1][out] = keys[from];
      if (has_values) storage_.values[now ^ 1][out] = storage_.values[now][from];
    }
  }

  TempStorage& storage_;
  Threads threads_;
};

}  // namespace detail
}  // namespace cub
