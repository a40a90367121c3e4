// hostcuda: thrust::copy and related functions, within host or device memory or between the two.
#pragma once

#include <algorithm>

#include "device_ptr.h"
#include "execution_policy.h"

namespace thrust {
namespace detail {

template <class Value, class From, class To>
constexpr bool are_arrays = std::is_pointer_v<raw_t<From>>&& std::is_pointer_v<raw_t<To>>&&
    std::is_same_v<value_t<From>, value_t<To>>&& std::is_trivially_copyable_v<Value>;

template <class From, class To>
void copy_bytes(const From& first, std::ptrdiff_t count, const To& result) {
  throw_on_error(
      cudaMemcpy(raw(result), raw(first), static_cast<std::size_t>(count) * sizeof(value_t<From>),
                 cudaMemcpyDefault),
      "thrust::copy");
}

template <class From, class To>
To copy_to_device(From first, std::ptrdiff_t count, const To& result) {
  using Value = value_t<From>;
  if constexpr (are_arrays<Value, From, To>) {
    copy_bytes(first, count, result);
  } else {
    temporary<Value> there(count);
    for (std::ptrdiff_t i = 0; i < count; ++i, ++first) {
      const Value value = *first;
      throw_on_error(cudaMemcpy(there.get() + i, &value, sizeof value, cudaMemcpyHostToDevice),
                     "thrust::copy");
    }
    in_parallel(device_policy{}, "thrust::copy", count,
                [from = there.get(), to = raw(result)](std::ptrdiff_t i) { to[i] = from[i]; });
  }
  return std::next(result, count);
}

// The result may be an iterator that only writes, such as std::ostream_iterator.
template <class From, class To>
To copy_to_host(const From& first, std::ptrdiff_t count, To result) {
  using Value = value_t<From>;
  if constexpr (are_arrays<Value, From, To>) {
    copy_bytes(first, count, result);
    return result + count;
  } else {
    temporary<Value> there(count);
    in_parallel(
        device_policy{}, "thrust::copy", count,
        [from = raw(first), to = there.get()](std::ptrdiff_t i) { ::new (to + i) Value(from[i]); });
    for (std::ptrdiff_t i = 0; i < count; ++i, ++result)
      *result = copied_from_device<Value>(there.get() + i);
    return result;
  }
}

// As with std::copy, the ranges may overlap only if copying forwards is correct.
template <class Policy, class From, class To>
To copy_within(const Policy& policy, const From& first, std::ptrdiff_t count, const To& result) {
  // Iterators of the standard library may lack random access.
  if constexpr (std::is_same_v<Policy, host_policy>) {
    return std::copy_n(first, count, result);
  } else {
    in_parallel(policy, "thrust::copy", count,
                [from = raw(first), to = raw(result)](std::ptrdiff_t i) { to[i] = from[i]; });
    return std::next(result, count);
  }
}

// A policy, if given, says where both ranges are. Otherwise the types of the iterators say so.
template <class Policy, class From, class To>
To copy_n(const Policy& policy, From first, std::ptrdiff_t size, To result) {
  return copy_within(policy, first, size, result);
}
template <class From, class To>
To copy_between(From first, std::ptrdiff_t count, To result) {
  if (count == 0) return result;
  if constexpr (on_device<From> == on_device<To>)
    return copy_within(policy_for<From>(), first, count, result);
  else if constexpr (on_device<To>)
    return copy_to_device(first, count, result);
  else
    return copy_to_host(first, count, result);
}

}  // namespace detail

template <class Policy, class From, class Size, class To>
To copy_n(const Policy& policy, From first, Size count, To result) {
  return detail::copy_n(policy, first, static_cast<std::ptrdiff_t>(count), result);
}
template <class From, class Size, class To>
To copy_n(From first, Size count, To result) {
  return detail::copy_between(first, static_cast<std::ptrdiff_t>(count), result);
}
template <class Policy, class From, class To>
To copy(const Policy& policy, From first, From last, To result) {
  return detail::copy_n(policy, first, std::distance(first, last), result);
}
template <class From, class To>
To copy(From first, From last, To result) {
  return detail::copy_between(first, std::distance(first, last), result);
}
}  // namespace thrust
