// hostcuda: thrust::find, all_of, equal and related functions.
#pragma once

#include <algorithm>

#include "execution_policy.h"
#include "functional.h"
#include "pair.h"

namespace thrust {
namespace detail {

template <class Policy, class Iterator, class Predicate>
Iterator find_if(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return first + in_sequence(policy, "thrust::find",
                             [first = raw(first), last = raw(last), predicate]() -> std::ptrdiff_t {
                               return std::find_if(first, last, predicate) - first;
                             });
}
template <class Policy, class Iterator, class Predicate>
Iterator find_if_not(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return detail::find_if(policy, first, last, thrust::not_fn(predicate));
}
template <class Policy, class Iterator, class T>
Iterator find(const Policy& policy, Iterator first, Iterator last, T value) {
  return detail::find_if(policy, first, last,
                         [value](const value_t<Iterator>& seen) { return seen == value; });
}
template <class Policy, class Iterator, class Predicate>
bool any_of(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return detail::find_if(policy, first, last, predicate) != last;
}
template <class Policy, class Iterator, class Predicate>
bool none_of(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return !detail::any_of(policy, first, last, predicate);
}
template <class Policy, class Iterator, class Predicate>
bool all_of(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return detail::find_if_not(policy, first, last, predicate) == last;
}

template <class Policy, class A, class B, class Equal>
pair<A, B> mismatch(const Policy& policy, A first, A last, B other, Equal equal) {
  const std::ptrdiff_t same = in_sequence(
      policy, "thrust::mismatch", [a = raw(first), count = last - first, b = raw(other), equal] {
        std::ptrdiff_t i = 0;
        while (i < count && equal(a[i], b[i])) ++i;
        return i;
      });
  return {first + same, other + same};
}
template <class Policy, class A, class B>
pair<A, B> mismatch(const Policy& policy, A first, A last, B other) {
  return detail::mismatch(policy, first, last, other, equal_to<value_t<A>>());
}
template <class Policy, class A, class B, class... Equal>
bool equal(const Policy& policy, A first, A last, B other, Equal... equal) {
  return detail::mismatch(policy, first, last, other, equal...).first == last;
}

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(find)
HOSTCUDA_THRUST_ALGORITHM(find_if)
HOSTCUDA_THRUST_ALGORITHM(find_if_not)
HOSTCUDA_THRUST_ALGORITHM(any_of)
HOSTCUDA_THRUST_ALGORITHM(none_of)
HOSTCUDA_THRUST_ALGORITHM(all_of)
HOSTCUDA_THRUST_ALGORITHM(mismatch)
HOSTCUDA_THRUST_ALGORITHM(equal)
}  // namespace thrust
