// hostcuda: thrust::sort and related functions, merge, and set operations on sorted ranges.
#pragma once

#include <algorithm>

#include "execution_policy.h"
#include "functional.h"
#include "pair.h"
#include "tuple.h"

namespace thrust {
namespace detail {

// Sorts items 0 to count - 1, which it accesses by load(i) and store(i, item). The function does
// not dereference iterators, because some of them return a tuple of references, which std::sort
// cannot swap. The sort is stable, so equal items keep their order. `scratch` has room for
// 2 * count items, or is null.
template <class Item, class Load, class Store, class Less>
void sort_items(std::ptrdiff_t count, const Load& load, const Store& store, Less less,
                Item* scratch) {
  if (!scratch) {  // in a kernel: insertion sort, because items are few
    for (std::ptrdiff_t i = 1, to; i < count; ++i) {
      const Item item = load(i);
      for (to = i; to > 0 && less(item, load(to - 1)); --to) store(to, load(to - 1));
      store(to, item);
    }
    return;
  }
  Item *from = scratch, *to = scratch + count;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    ::new (static_cast<void*>(from + i)) Item(load(i));
    ::new (static_cast<void*>(to + i)) Item(from[i]);
  }
  for (std::ptrdiff_t width = 1; width < count; width *= 2) {
    for (std::ptrdiff_t begin = 0; begin < count; begin += 2 * width) {
      const std::ptrdiff_t middle = std::min(begin + width, count);
      const std::ptrdiff_t end = std::min(begin + 2 * width, count);
      std::merge(from + begin, from + middle, from + middle, from + end, to + begin, less);
    }
    std::swap(from, to);
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) store(i, from[i]);
}

template <class T>
struct load_from {
  T it;
  value_t<T> operator()(std::ptrdiff_t i) const { return it[i]; }
};
template <class T>
struct store_to {
  T it;
  void operator()(std::ptrdiff_t i, const value_t<T>& value) const { it[i] = value; }
};

template <class Policy, class Iterator, class Less>
void stable_sort(const Policy& policy, Iterator first, Iterator last, Less less) {
  using Item = value_t<Iterator>;
  with_scratch<Item>(policy, 2 * (last - first), [&](Item* scratch) {
    in_sequence(policy, "thrust::sort", [it = raw(first), count = last - first, less, scratch] {
      sort_items(count, load_from<raw_t<Iterator>>{it}, store_to<raw_t<Iterator>>{it}, less,
                 scratch);
    });
  });
}
template <class Policy, class Iterator>
void stable_sort(const Policy& policy, Iterator first, Iterator last) {
  detail::stable_sort(policy, first, last, less<value_t<Iterator>>());
}
template <class Policy, class Iterator, class... Less>
void sort(const Policy& policy, Iterator first, Iterator last, Less... less) {
  detail::stable_sort(policy, first, last, less...);
}

template <class Key, class Value>
struct keyed {
  Key key;
  Value value;
};
template <class Keys, class Values, class Less>
void sort_keyed(Keys keys, std::ptrdiff_t count, Values values, Less less,
                keyed<value_t<Keys>, value_t<Values>>* scratch) {
  using Item = keyed<value_t<Keys>, value_t<Values>>;
  sort_items(
      count,
      [=](std::ptrdiff_t i) {
        return Item{keys[i], values[i]};
      },
      [=](std::ptrdiff_t i, const Item& item) {
        keys[i] = item.key;
        values[i] = item.value;
      },
      [less](const Item& a, const Item& b) { return less(a.key, b.key); }, scratch);
}
template <class Policy, class Keys, class Values, class Less>
void stable_sort_by_key(const Policy& policy, Keys first, Keys last, Values values, Less less) {
  using Item = keyed<value_t<Keys>, value_t<Values>>;
  with_scratch<Item>(policy, 2 * (last - first), [&](Item* scratch) {
    in_sequence(policy, "thrust::sort_by_key",
                [keys = raw(first), count = last - first, values = raw(values), less, scratch] {
                  sort_keyed(keys, count, values, less, scratch);
                });
  });
}
template <class Policy, class Keys, class Values>
void stable_sort_by_key(const Policy& policy, Keys first, Keys last, Values values) {
  detail::stable_sort_by_key(policy, first, last, values, less<value_t<Keys>>());
}
template <class Policy, class Keys, class Values, class... Less>
void sort_by_key(const Policy& policy, Keys first, Keys last, Values values, Less... less) {
  detail::stable_sort_by_key(policy, first, last, values, less...);
}

template <class Policy, class Iterator, class... Less>
bool is_sorted(const Policy& policy, Iterator first, Iterator last, Less... less) {
  return in_sequence(policy, "thrust::is_sorted", [first = raw(first), last = raw(last), less...] {
    return std::is_sorted(first, last, less...);
  });
}
template <class Policy, class Iterator, class... Less>
Iterator is_sorted_until(const Policy& policy, Iterator first, Iterator last, Less... less) {
  return first + in_sequence(policy, "thrust::is_sorted_until",
                             [first = raw(first), last = raw(last), less...]() -> std::ptrdiff_t {
                               return std::is_sorted_until(first, last, less...) - first;
                             });
}

// Of equal keys, those of the first range come first.
template <class Policy, class A, class B, class V, class W, class Keys, class Values, class Less>
pair<Keys, Values> merge_by_key(const Policy& policy, A first, A last, B first2, B last2, V values,
                                W values2, Keys keys_out, Values values_out, Less less) {
  const std::ptrdiff_t count = last - first, count2 = last2 - first2;
  in_sequence(policy, "thrust::merge_by_key",
              [a = raw(first), b = raw(first2), v = raw(values), w = raw(values2),
               keys = raw(keys_out), out = raw(values_out), count, count2, less]() mutable {
                for (std::ptrdiff_t i = 0, j = 0; i < count || j < count2;) {
                  const std::ptrdiff_t to = i + j;
                  if (i == count || (j < count2 && less(b[j], a[i])))
                    keys[to] = b[j], out[to] = w[j], ++j;
                  else
                    keys[to] = a[i], out[to] = v[i], ++i;
                }
              });
  return {keys_out + (count + count2), values_out + (count + count2)};
}
template <class Policy, class A, class B, class V, class W, class Keys, class Values>
pair<Keys, Values> merge_by_key(const Policy& policy, A first, A last, B first2, B last2, V values,
                                W values2, Keys keys_out, Values values_out) {
  return detail::merge_by_key(policy, first, last, first2, last2, values, values2, keys_out,
                              values_out, [](const auto& x, const auto& y) { return x < y; });
}

#define HOSTCUDA_OF_SORTED(name)                                                                 \
  template <class Policy, class A, class B, class Out, class... Less>                            \
  Out name(const Policy& policy, A first, A last, B first2, B last2, Out result, Less... less) { \
    return result +                                                                              \
           in_sequence(policy, "thrust::" #name,                                                 \
                       [a = raw(first), a_end = raw(last), b = raw(first2), b_end = raw(last2),  \
                        out = raw(result), less...]() -> std::ptrdiff_t {                        \
                         return std::name(a, a_end, b, b_end, out, less...) - out;               \
                       });                                                                       \
  }
HOSTCUDA_OF_SORTED(merge)
HOSTCUDA_OF_SORTED(set_union)
HOSTCUDA_OF_SORTED(set_intersection)
HOSTCUDA_OF_SORTED(set_difference)
HOSTCUDA_OF_SORTED(set_symmetric_difference)
#undef HOSTCUDA_OF_SORTED

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(sort)
HOSTCUDA_THRUST_ALGORITHM(stable_sort)
HOSTCUDA_THRUST_ALGORITHM(sort_by_key)
HOSTCUDA_THRUST_ALGORITHM(stable_sort_by_key)
HOSTCUDA_THRUST_ALGORITHM(is_sorted)
HOSTCUDA_THRUST_ALGORITHM(is_sorted_until)
HOSTCUDA_THRUST_ALGORITHM(merge)
HOSTCUDA_THRUST_ALGORITHM(merge_by_key)
HOSTCUDA_THRUST_ALGORITHM(set_union)
HOSTCUDA_THRUST_ALGORITHM(set_intersection)
HOSTCUDA_THRUST_ALGORITHM(set_difference)
HOSTCUDA_THRUST_ALGORITHM(set_symmetric_difference)
}  // namespace thrust
