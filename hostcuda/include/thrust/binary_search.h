// hostcuda: Thrust's searches in sorted ranges, for one value or for a range of values.
#pragma once

#include <algorithm>

#include "execution_policy.h"
#include "pair.h"

namespace thrust {
namespace detail {

// A search for one value returns an iterator; a search for a range of values writes indices. Both
// take a comparison, or none.
template <class... Less>
using at_most_one = std::enable_if_t<sizeof...(Less) <= 1>;

#define HOSTCUDA_BOUND(name)                                                                      \
  template <class Policy, class Iterator, class T, class... Less, class = at_most_one<Less...>>   \
  Iterator name(const Policy& policy, Iterator first, Iterator last, T value, Less... less) {     \
    return first + in_sequence(policy, "thrust::" #name,                                          \
                               [first = raw(first), last = raw(last), value,                      \
                                less...]() -> std::ptrdiff_t {                                    \
                                 return std::name(first, last, value, less...) - first;           \
                               });                                                                \
  }                                                                                               \
  template <class Policy, class Iterator, class Values, class Out, class... Less>                 \
  Out name(const Policy& policy, Iterator first, Iterator last, Values values, Values end,        \
           Out result, Less... less) {                                                            \
    in_parallel(                                                                                  \
        policy, "thrust::" #name, end - values,                                                   \
        [first = raw(first), last = raw(last), values = raw(values), out = raw(result),           \
         less...](std::ptrdiff_t i) {                                                             \
          out[i] = static_cast<value_t<Out>>(std::name(first, last, values[i], less...) - first); \
        });                                                                                       \
    return result + (end - values);                                                               \
  }
HOSTCUDA_BOUND(lower_bound)
HOSTCUDA_BOUND(upper_bound)
#undef HOSTCUDA_BOUND

template <class Policy, class Iterator, class T, class... Less>
pair<Iterator, Iterator> equal_range(const Policy& policy, Iterator first, Iterator last, T value,
                                     Less... less) {
  using Range = pair<std::ptrdiff_t, std::ptrdiff_t>;
  const Range range = in_sequence(
      policy, "thrust::equal_range", [first = raw(first), last = raw(last), value, less...] {
        const auto found = std::equal_range(first, last, value, less...);
        return Range(found.first - first, found.second - first);
      });
  return {first + range.first, first + range.second};
}

template <class Policy, class Iterator, class T, class... Less, class = at_most_one<Less...>>
bool binary_search(const Policy& policy, Iterator first, Iterator last, T value, Less... less) {
  return in_sequence(policy, "thrust::binary_search",
                     [first = raw(first), last = raw(last), value, less...] {
                       return std::binary_search(first, last, value, less...);
                     });
}
template <class Policy, class Iterator, class Values, class Out, class... Less>
Out binary_search(const Policy& policy, Iterator first, Iterator last, Values values, Values end,
                  Out result, Less... less) {
  in_parallel(
      policy, "thrust::binary_search", end - values,
      [first = raw(first), last = raw(last), values = raw(values), out = raw(result), less...](
          std::ptrdiff_t i) { out[i] = std::binary_search(first, last, values[i], less...); });
  return result + (end - values);
}

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(lower_bound)
HOSTCUDA_THRUST_ALGORITHM(upper_bound)
HOSTCUDA_THRUST_ALGORITHM(equal_range)
HOSTCUDA_THRUST_ALGORITHM(binary_search)
}  // namespace thrust
