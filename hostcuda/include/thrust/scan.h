// hostcuda: Thrust's scans and adjacent_difference.
#pragma once

#include "execution_policy.h"
#include "functional.h"
#include "iterator/transform_iterator.h"

namespace thrust {
namespace detail {

// Compares keys in a scan without segments: all elements belong to a single segment.
struct one_segment {
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return true;
  }
};
// Stands in for the keys in a scan without keys.
struct no_keys {
  static constexpr bool kOnDevice = true;
  no_keys raw() const { return *this; }
  char operator[](std::ptrdiff_t) const { return 0; }
};

template <class Policy, class Keys, class In, class Out, class Equal, class Operation>
Out scan_inclusively(const Policy& policy, const char* name, Keys keys, In first,
                     std::ptrdiff_t count, Out result, Equal equal, Operation operation) {
  in_sequence(
      policy, name,
      [keys = raw(keys), in = raw(first), count, out = raw(result), equal, operation]() mutable {
        if (count == 0) return;
        value_t<In> sum = in[0];
        out[0] = sum;
        for (std::ptrdiff_t i = 1; i < count; ++i) {
          const value_t<In> value = in[i];
          sum = equal(keys[i - 1], keys[i]) ? value_t<In>(operation(sum, value)) : value;
          out[i] = sum;
        }
      });
  return result + count;
}

template <class Policy, class Keys, class In, class Out, class T, class Equal, class Operation>
Out scan_exclusively(const Policy& policy, const char* name, Keys keys, In first,
                     std::ptrdiff_t count, Out result, T begin, Equal equal, Operation operation) {
  in_sequence(policy, name,
              [keys = raw(keys), in = raw(first), count, out = raw(result), begin, equal,
               operation]() mutable {
                T sum = begin;
                for (std::ptrdiff_t i = 0; i < count; ++i) {
                  if (i > 0 && !equal(keys[i - 1], keys[i])) sum = begin;
                  const value_t<In> value = in[i];  // `out` may be `in`
                  out[i] = sum;
                  sum = operation(sum, value);
                }
              });
  return result + count;
}

template <class Policy, class In, class Out, class Operation>
Out inclusive_scan(const Policy& policy, In first, In last, Out result, Operation operation) {
  return scan_inclusively(policy, "thrust::inclusive_scan", no_keys(), first, last - first, result,
                          one_segment(), operation);
}
template <class Policy, class In, class Out>
Out inclusive_scan(const Policy& policy, In first, In last, Out result) {
  return detail::inclusive_scan(policy, first, last, result, plus<value_t<In>>());
}
template <class Policy, class In, class Out, class T, class Operation>
Out exclusive_scan(const Policy& policy, In first, In last, Out result, T begin,
                   Operation operation) {
  return scan_exclusively(policy, "thrust::exclusive_scan", no_keys(), first, last - first, result,
                          begin, one_segment(), operation);
}
template <class Policy, class In, class Out, class T>
Out exclusive_scan(const Policy& policy, In first, In last, Out result, T begin) {
  return detail::exclusive_scan(policy, first, last, result, begin, plus<T>());
}
template <class Policy, class In, class Out>
Out exclusive_scan(const Policy& policy, In first, In last, Out result) {
  return detail::exclusive_scan(policy, first, last, result, value_t<In>());
}

template <class Policy, class Keys, class In, class Out, class Equal, class Operation>
Out inclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out result,
                          Equal equal, Operation operation) {
  return scan_inclusively(policy, "thrust::inclusive_scan_by_key", first, values, last - first,
                          result, equal, operation);
}
template <class Policy, class Keys, class In, class Out, class Equal>
Out inclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out result,
                          Equal equal) {
  return detail::inclusive_scan_by_key(policy, first, last, values, result, equal,
                                       plus<value_t<In>>());
}
template <class Policy, class Keys, class In, class Out>
Out inclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out result) {
  return detail::inclusive_scan_by_key(policy, first, last, values, result,
                                       equal_to<value_t<Keys>>());
}
template <class Policy, class Keys, class In, class Out, class T, class Equal, class Operation>
Out exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out result,
                          T begin, Equal equal, Operation operation) {
  return scan_exclusively(policy, "thrust::exclusive_scan_by_key", first, values, last - first,
                          result, begin, equal, operation);
}
template <class Policy, class Keys, class In, class Out, class T>
Out exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out result,
                          T begin) {
  return detail::exclusive_scan_by_key(policy, first, last, values, result, begin,
                                       equal_to<value_t<Keys>>(), plus<T>());
}
template <class Policy, class Keys, class In, class Out>
Out exclusive_scan_by_key(const Policy& policy, Keys first, Keys last, In values, Out result) {
  return detail::exclusive_scan_by_key(policy, first, last, values, result, value_t<In>());
}

template <class Policy, class In, class Out, class Function, class Operation>
Out transform_inclusive_scan(const Policy& policy, In first, In last, Out result, Function function,
                             Operation operation) {
  return scan_inclusively(policy, "thrust::transform_inclusive_scan", no_keys(),
                          make_transform_iterator(first, function), last - first, result,
                          one_segment(), operation);
}
template <class Policy, class In, class Out, class Function, class T, class Operation>
Out transform_exclusive_scan(const Policy& policy, In first, In last, Out result, Function function,
                             T begin, Operation operation) {
  return scan_exclusively(policy, "thrust::transform_exclusive_scan", no_keys(),
                          make_transform_iterator(first, function), last - first, result, begin,
                          one_segment(), operation);
}

template <class Policy, class In, class Out, class Operation>
Out adjacent_difference(const Policy& policy, In first, In last, Out result, Operation operation) {
  in_sequence(policy, "thrust::adjacent_difference",
              [in = raw(first), count = last - first, out = raw(result), operation]() mutable {
                if (count == 0) return;
                value_t<In> before = in[0];
                out[0] = before;
                for (std::ptrdiff_t i = 1; i < count; ++i) {
                  const value_t<In> value = in[i];
                  out[i] = operation(value, before);
                  before = value;
                }
              });
  return result + (last - first);
}
template <class Policy, class In, class Out>
Out adjacent_difference(const Policy& policy, In first, In last, Out result) {
  return detail::adjacent_difference(policy, first, last, result, minus<value_t<In>>());
}

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(inclusive_scan)
HOSTCUDA_THRUST_ALGORITHM(exclusive_scan)
HOSTCUDA_THRUST_ALGORITHM(inclusive_scan_by_key)
HOSTCUDA_THRUST_ALGORITHM(exclusive_scan_by_key)
HOSTCUDA_THRUST_ALGORITHM(transform_inclusive_scan)
HOSTCUDA_THRUST_ALGORITHM(transform_exclusive_scan)
HOSTCUDA_THRUST_ALGORITHM(adjacent_difference)
}  // namespace thrust
