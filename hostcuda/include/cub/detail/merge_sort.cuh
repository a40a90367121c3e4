// hostcuda: the stable sort of cub::BlockMergeSort and cub::WarpMergeSort.
#pragma once

#include <utility>

#include "block.cuh"

namespace cub {
namespace detail {

// Threads is a group of kThreads threads, with rank() and barrier(). Each thread sorts its own
// items. Then runs of sorted items are merged in pairs, until one run is left.
template <class Key, class Value, int kThreads, int N, class Threads>
class merge_sort {
  static_assert((kThreads & (kThreads - 1)) == 0, "the number of threads must be a power of two");
  static constexpr int kItems = kThreads * N;

 public:
  union TempStorage {  // as large as CUB's
    storage<Key, kItems + 1> keys;
    storage<Value, kItems + 1> values;
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
  void sort(Key (&keys)[N], Value* values, Less& less, int count) {
    sort_own(keys, values, less, count - index(0));
    for (int run = N; run < kItems; run *= 2) {
      int from[N];
      share(storage_.keys, keys);
      merge(keys, from, less, run, count);
      if (!values) continue;
      share(storage_.values, values);
      for (int i = 0; i < N && index(i) < count; ++i) values[i] = storage_.values[from[i]];
    }
  }
  template <class Less>
  static void sort_own(Key (&keys)[N], Value* values, Less& less, int count) {
    for (int i = 1; i < N && i < count; ++i)
      for (int k = i; k > 0 && less(keys[k], keys[k - 1]); --k) {
        std::swap(keys[k], keys[k - 1]);
        if (values) std::swap(values[k], values[k - 1]);
      }
  }
  template <class Item>
  void share(storage<Item, kItems + 1>& shared, const Item* items) const {
    threads_.barrier();
    for (int i = 0; i < N; ++i) shared[index(i)] = items[i];
    threads_.barrier();
  }
  // Merges the pair of runs to which the thread's items belong, as far as the result becomes the
  // thread's keys. `from` gets their places before.
  template <class Less>
  void merge(Key (&keys)[N], int (&from)[N], Less& less, int run, int count) {
    if (index(0) >= count) return;
    const auto at_most = [](int i, int limit) { return i < limit ? i : limit; };
    const int begin = index(0) / (2 * run) * (2 * run);
    const int middle = at_most(begin + run, count), end = at_most(begin + 2 * run, count);
    auto& all = storage_.keys;
    // How many of the keys that precede the thread's keys in the result are of the first run? At
    // least `least`, because the second run may have too few.
    const int preceding = index(0) - begin, of_second = end - middle;
    int least = preceding < of_second ? 0 : preceding - of_second;
    int most = at_most(preceding, middle - begin);
    while (least < most) {
      const int half = (least + most) / 2;
      if (less(all[middle + preceding - 1 - half], all[begin + half]))
        most = half;
      else
        least = half + 1;
    }
    int first = begin + least, second = middle + preceding - least;
    for (int i = 0; i < N && index(i) < count; ++i) {
      const bool takes_second = first == middle || (second < end && less(all[second], all[first]));
      from[i] = takes_second ? second++ : first++;
      keys[i] = all[from[i]];
    }
  }

  TempStorage& storage_;
  Threads threads_;
};

}  // namespace detail
}  // namespace cub
