// hostcuda: thrust::copy_if, remove, unique, partition and reverse, which select or reorder
// elements.
#pragma once

#include <algorithm>

#include "copy.h"
#include "execution_policy.h"
#include "functional.h"
#include "pair.h"

namespace thrust {
namespace detail {

// Copies, in order, each element i for which wanted(i) is true, and returns how many it copied.
// `out` may be `in`.
template <class In, class Out, class Wanted>
std::ptrdiff_t pack(In in, std::ptrdiff_t count, Out out, Wanted wanted) {
  std::ptrdiff_t kept = 0;
  for (std::ptrdiff_t i = 0; i < count; ++i)
    if (wanted(i)) out[kept++] = in[i];
  return kept;
}

template <class Policy, class In, class Stencil, class Out, class Predicate>
Out copy_if(const Policy& policy, In first, In last, Stencil stencil, Out result,
            Predicate predicate) {
  return result + in_sequence(policy, "thrust::copy_if",
                              [in = raw(first), count = last - first, stencil = raw(stencil),
                               out = raw(result), predicate]() mutable {
                                return pack(in, count, out, [&](std::ptrdiff_t i) {
                                  return predicate(stencil[i]);
                                });
                              });
}
template <class Policy, class In, class Out, class Predicate>
Out copy_if(const Policy& policy, In first, In last, Out result, Predicate predicate) {
  return detail::copy_if(policy, first, last, first, result, predicate);
}

template <class Policy, class In, class Out, class Predicate>
Out remove_copy_if(const Policy& policy, In first, In last, Out result, Predicate predicate) {
  return detail::copy_if(policy, first, last, first, result, thrust::not_fn(predicate));
}
template <class Policy, class Iterator, class Predicate>
Iterator remove_if(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return detail::remove_copy_if(policy, first, last, first, predicate);
}
template <class Policy, class Iterator, class Stencil, class Predicate>
Iterator remove_if(const Policy& policy, Iterator first, Iterator last, Stencil stencil,
                   Predicate predicate) {
  return detail::copy_if(policy, first, last, stencil, first, thrust::not_fn(predicate));
}
template <class Policy, class In, class Out, class T>
Out remove_copy(const Policy& policy, In first, In last, Out result, T value) {
  return detail::copy_if(policy, first, last, first, result,
                         [value](const value_t<In>& seen) { return !(seen == value); });
}
template <class Policy, class Iterator, class T>
Iterator remove(const Policy& policy, Iterator first, Iterator last, T value) {
  return detail::remove_copy(policy, first, last, first, value);
}

// Keeps the first element of each run of equal keys, with its value.
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut, class Equal>
pair<KeysOut, ValuesOut> unique_by_key_copy(const Policy& policy, Keys first, Keys last,
                                            Values values, KeysOut keys_out, ValuesOut values_out,
                                            Equal equal) {
  const std::ptrdiff_t runs =
      in_sequence(policy, "thrust::unique",
                  [keys = raw(first), count = last - first, values = raw(values),
                   to_keys = raw(keys_out), to_values = raw(values_out), equal] {
                    std::ptrdiff_t kept = 0;
                    for (std::ptrdiff_t i = 0; i < count;) {
                      const value_t<Keys> key = keys[i];
                      to_keys[kept] = key;
                      to_values[kept++] = values[i];
                      while (++i < count && equal(key, keys[i])) {
                      }
                    }
                    return kept;
                  });
  return {keys_out + runs, values_out + runs};
}
template <class Policy, class Keys, class Values, class KeysOut, class ValuesOut>
auto unique_by_key_copy(const Policy& policy, Keys first, Keys last, Values values,
                        KeysOut keys_out, ValuesOut values_out) {
  return detail::unique_by_key_copy(policy, first, last, values, keys_out, values_out,
                                    equal_to<value_t<Keys>>());
}
template <class Policy, class Keys, class Values, class... Equal>
auto unique_by_key(const Policy& policy, Keys first, Keys last, Values values, Equal... equal) {
  return detail::unique_by_key_copy(policy, first, last, values, first, values, equal...);
}

template <class Policy, class In, class Out, class Equal>
Out unique_copy(const Policy& policy, In first, In last, Out result, Equal equal) {
  return detail::unique_by_key_copy(policy, first, last, first, result, result, equal).first;
}
template <class Policy, class In, class Out>
Out unique_copy(const Policy& policy, In first, In last, Out result) {
  return detail::unique_copy(policy, first, last, result, equal_to<value_t<In>>());
}
template <class Policy, class Iterator, class... Equal>
Iterator unique(const Policy& policy, Iterator first, Iterator last, Equal... equal) {
  return detail::unique_copy(policy, first, last, first, equal...);
}

template <class Policy, class Iterator, class Stencil, class Predicate>
Iterator stable_partition(const Policy& policy, Iterator first, Iterator last, Stencil stencil,
                          Predicate predicate) {
  using Value = value_t<Iterator>;
  std::ptrdiff_t yes = 0;
  with_scratch<Value>(policy, last - first, [&](Value* others) {
    yes = in_sequence(policy, "thrust::partition",
                      [in = raw(first), count = last - first, stencil = raw(stencil), predicate,
                       others]() mutable -> std::ptrdiff_t {
                        std::ptrdiff_t kept = 0, left = 0;
                        for (std::ptrdiff_t i = 0; i < count; ++i) {
                          const Value value = in[i];
                          if (!predicate(stencil[i])) {
                            if (others) ::new (static_cast<void*>(others + left++)) Value(value);
                            continue;
                          }
                          // If there is no extra memory, shifts the rejected elements before i.
                          for (std::ptrdiff_t k = i; !others && k > kept; --k) in[k] = in[k - 1];
                          in[kept++] = value;
                        }
                        for (std::ptrdiff_t i = 0; i < left; ++i) in[kept + i] = others[i];
                        return kept;
                      });
  });
  return first + yes;
}
template <class Policy, class Iterator, class Predicate>
Iterator stable_partition(const Policy& policy, Iterator first, Iterator last,
                          Predicate predicate) {
  return detail::stable_partition(policy, first, last, first, predicate);
}
template <class Policy, class Iterator, class... Rest>
Iterator partition(const Policy& policy, Iterator first, Iterator last, Rest... rest) {
  return detail::stable_partition(policy, first, last, rest...);
}
template <class Policy, class In, class Yes, class No, class Predicate>
pair<Yes, No> partition_copy(const Policy& policy, In first, In last, Yes yes, No no,
                             Predicate predicate) {
  return {detail::copy_if(policy, first, last, first, yes, predicate),
          detail::copy_if(policy, first, last, first, no, thrust::not_fn(predicate))};
}
template <class Policy, class Iterator, class Predicate>
bool is_partitioned(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return in_sequence(policy, "thrust::is_partitioned",
                     [first = raw(first), last = raw(last), predicate] {
                       return std::is_partitioned(first, last, predicate);
                     });
}
template <class Policy, class Iterator, class Predicate>
Iterator partition_point(const Policy& policy, Iterator first, Iterator last, Predicate predicate) {
  return first + in_sequence(policy, "thrust::partition_point",
                             [first = raw(first), last = raw(last), predicate]() -> std::ptrdiff_t {
                               return std::partition_point(first, last, predicate) - first;
                             });
}

template <class Policy, class In, class Out>
Out reverse_copy(const Policy& policy, In first, In last, Out result) {
  in_parallel(policy, "thrust::reverse_copy", last - first,
              [in = raw(first), count = last - first, out = raw(result)](std::ptrdiff_t i) {
                out[i] = in[count - 1 - i];
              });
  return result + (last - first);
}
template <class Policy, class Iterator>
void reverse(const Policy& policy, Iterator first, Iterator last) {
  in_parallel(policy, "thrust::reverse", (last - first) / 2,
              [it = raw(first), count = last - first](std::ptrdiff_t i) {
                const value_t<Iterator> kept = it[i];
                it[i] = static_cast<value_t<Iterator>>(it[count - 1 - i]);
                it[count - 1 - i] = kept;
              });
}

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(copy_if)
HOSTCUDA_THRUST_ALGORITHM(remove)
HOSTCUDA_THRUST_ALGORITHM(remove_if)
HOSTCUDA_THRUST_ALGORITHM(remove_copy)
HOSTCUDA_THRUST_ALGORITHM(remove_copy_if)
HOSTCUDA_THRUST_ALGORITHM(unique)
HOSTCUDA_THRUST_ALGORITHM(unique_copy)
HOSTCUDA_THRUST_ALGORITHM(unique_by_key)
HOSTCUDA_THRUST_ALGORITHM(unique_by_key_copy)
HOSTCUDA_THRUST_ALGORITHM(partition)
HOSTCUDA_THRUST_ALGORITHM(stable_partition)
HOSTCUDA_THRUST_ALGORITHM(partition_copy)
HOSTCUDA_THRUST_ALGORITHM(is_partitioned)
HOSTCUDA_THRUST_ALGORITHM(partition_point)
HOSTCUDA_THRUST_ALGORITHM(reverse)
HOSTCUDA_THRUST_ALGORITHM(reverse_copy)
}  // namespace thrust
