// hostcuda: thrust::reduce and other functions that combine many values into one.
//
// One thread combines the elements in order. A GPU uses another order, so its sums of floats differ
// from these in their last digits.
#pragma once

#include <algorithm>

#include "execution_policy.h"
#include "functional.h"
#include "pair.h"

namespace thrust {
namespace detail {

template <class Policy, class Iterator, class Function, class T, class Operation>
T transform_reduce(const Policy& policy, Iterator first, Iterator last, Function function, T begin,
                   Operation operation) {
  return in_sequence(policy, "thrust::reduce",
                     [first = raw(first), last = raw(last), function, begin, operation]() mutable {
                       T result = begin;
                       for (auto it = first; it != last; ++it)
                         result = operation(result, function(*it));
                       return result;
                     });
}

template <class Policy, class Iterator, class T, class Operation>
T reduce(const Policy& policy, Iterator first, Iterator last, T begin, Operation operation) {
  return detail::transform_reduce(policy, first, last, identity<value_t<Iterator>>(), begin,
                                  operation);
}
template <class Policy, class Iterator, class T>
T reduce(const Policy& policy, Iterator first, Iterator last, T begin) {
  return detail::reduce(policy, first, last, begin, plus<T>());
}
template <class Policy, class Iterator>
value_t<Iterator> reduce(const Policy& policy, Iterator first, Iterator last) {
  return detail::reduce(policy, first, last, value_t<Iterator>());
}

template <class Policy, class A, class B, class T, class Plus, class Times>
T inner_product(const Policy& policy, A first, A last, B other, T begin, Plus add, Times times) {
  return in_sequence(
      policy, "thrust::inner_product",
      [a = raw(first), count = last - first, b = raw(other), begin, add, times]() mutable {
        T result = begin;
        for (std::ptrdiff_t i = 0; i < count; ++i) result = add(result, times(a[i], b[i]));
        return result;
      });
}
template <class Policy, class A, class B, class T>
T inner_product(const Policy& policy, A first, A last, B other, T begin) {
  return detail::inner_product(policy, first, last, other, begin, plus<T>(), multiplies<T>());
}

template <class Policy, class Iterator, class Predicate>
std::ptrdiff_t count_if(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return in_sequence(policy, "thrust::count_if",
                     [first = raw(first), last = raw(last), predicate]() -> std::ptrdiff_t {
                       return std::count_if(first, last, predicate);
                     });
}
template <class Policy, class Iterator, class T>
std::ptrdiff_t count(const Policy& policy, Iterator first, Iterator last, T value) {
  return detail::count_if(policy, first, last,
                          [value](const value_t<Iterator>& seen) { return seen == value; });
}

#define HOSTCUDA_EXTREME(name)                                                               \
  template <class Policy, class Iterator, class... Less>                                     \
  Iterator name(const Policy& policy, Iterator first, Iterator last, Less... less) {         \
    return first +                                                                           \
           in_sequence(policy, "thrust::" #name,                                             \
                       [first = raw(first), last = raw(last), less...]() -> std::ptrdiff_t { \
                         return std::name(first, last, less...) - first;                     \
                       });                                                                   \
  }
HOSTCUDA_EXTREME(min_element)
HOSTCUDA_EXTREME(max_element)
#undef HOSTCUDA_EXTREME
template <class Policy, class Iterator, class... Less>
pair<Iterator, Iterator> minmax_element(const Policy& policy, Iterator first, Iterator last,
                                        Less... less) {
  return {detail::min_element(policy, first, last, less...),
          detail::max_element(policy, first, last, less...)};
}

// Writes one value for each run of equal keys. Returns the number of runs.
template <class Keys, class Values, class KeysOut, class ValuesOut, class Equal, class Operation>
std::ptrdiff_t reduce_runs(Keys keys, std::ptrdiff_t count, Values values, KeysOut keys_out,
                           ValuesOut values_out, Equal equal, Operation operation) {
  std::ptrdiff_t runs = 0;
  for (std::ptrdiff_t i = 0; i < count; ++runs) {
    const value_t<Keys> key = keys[i];
    value_t<Values> result = values[i];
    for (++i; i < count && equal(key, keys[i]); ++i) result = operation(result, values[i]);
    keys_out[runs] = key;
    values_out[runs] = result;
  }
  return runs;
}
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut, class Equal,
          class Operation>
pair<KeysOut, ValuesOut> reduce_by_key(const Policy& policy, Keys first, Keys last, Values values,
                                       KeysOut keys_out, ValuesOut values_out, Equal equal,
                                       Operation operation) {
  const std::ptrdiff_t runs =
      in_sequence(policy, "thrust::reduce_by_key",
                  [first = raw(first), count = last - first, values = raw(values),
                   to_keys = raw(keys_out), to_values = raw(values_out), equal, operation] {
                    return reduce_runs(first, count, values, to_keys, to_values, equal, operation);
                  });
  return {keys_out + runs, values_out + runs};
}
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
auto reduce_by_key(const Policy& policy, Keys first, Keys last, Values values, KeysOut keys_out,
                   ValuesOut values_out, Equal equal) {
  return detail::reduce_by_key(policy, first, last, values, keys_out, values_out, equal,
                               plus<value_t<Values>>());
}
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut>
auto reduce_by_key(const Policy& policy, Keys first, Keys last, Values values, KeysOut keys_out,
                   ValuesOut values_out) {
  return detail::reduce_by_key(policy, first, last, values, keys_out, values_out,
                               equal_to<value_t<Keys>>());
}

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(transform_reduce)
HOSTCUDA_THRUST_ALGORITHM(reduce)
HOSTCUDA_THRUST_ALGORITHM(inner_product)
HOSTCUDA_THRUST_ALGORITHM(count_if)
HOSTCUDA_THRUST_ALGORITHM(count)
HOSTCUDA_THRUST_ALGORITHM(min_element)
HOSTCUDA_THRUST_ALGORITHM(max_element)
HOSTCUDA_THRUST_ALGORITHM(minmax_element)
HOSTCUDA_THRUST_ALGORITHM(reduce_by_key)
}  // namespace thrust
