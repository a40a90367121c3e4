// hostcuda: thrust::sort and relatives, merge and the operations on sorted ranges as sets.
#ifndef HOSTCUDA_THRUST_SORT_H
#define HOSTCUDA_THRUST_SORT_H

#include <algorithm>
#include <numeric>

#include "copy.h"
#include "execution_policy.h"
#include "functional.h"
#include "tuple.h"

namespace thrust {
namespace detail {

// By a copy: what * gives may be a tuple of references, which std::sort cannot exchange. Stable, so
// that the order of equal elements is the same everywhere.
template <class Policy, class Iterator, class Less>
void stable_sort(const Policy& policy, Iterator first, Iterator last, Less less) {
  in_sequence(policy, "thrust::sort", [first = raw(first), last = raw(last), less] {
    values<value_t<Iterator>> sorted(first, last);
    std::stable_sort(sorted.begin(), sorted.end(), less);
    std::copy(sorted.begin(), sorted.end(), first);
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

template <class Iterator>
void reorder(Iterator first, const std::vector<std::size_t>& order) {
  const values<value_t<Iterator>> before(first, first + static_cast<std::ptrdiff_t>(order.size()));
  for (const std::size_t from : order) {
    *first = before[from];
    ++first;
  }
}
template <class Policy, class Keys, class Values, class Less>
void stable_sort_by_key(const Policy& policy, Keys first, Keys last, Values values, Less less) {
  in_sequence(policy, "thrust::sort_by_key",
              [keys = raw(first), count = last - first, values = raw(values), less] {
                std::vector<std::size_t> order(static_cast<std::size_t>(count));
                std::iota(order.begin(), order.end(), std::size_t{0});
                std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                  return less(keys[static_cast<std::ptrdiff_t>(a)],
                              keys[static_cast<std::ptrdiff_t>(b)]);
                });
                reorder(keys, order);
                reorder(values, order);
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
HOSTCUDA_THRUST_ALGORITHM(set_union)
HOSTCUDA_THRUST_ALGORITHM(set_intersection)
HOSTCUDA_THRUST_ALGORITHM(set_difference)
HOSTCUDA_THRUST_ALGORITHM(set_symmetric_difference)
}  // namespace thrust

#endif
