// hostcuda: functions of libcu++ that kernels may call, as clang sees them while it distinguishes
// host code from device code (../semantics.h). Before C++20 the standard library's own functions
// are not constexpr, so they would count as host code. Declarations suffice.
#pragma once

// As host code, because clang reports no unset variables after an error, and as code of both sides,
// the standard library's declarations contradict each other.
#pragma clang force_cuda_host_device end
#include <cstddef>
#include <iterator>
#include <type_traits>
#pragma clang force_cuda_host_device begin

#include "algorithms.h"

namespace cuda::std {

template <class T>
void swap(T& a, T& b);
template <class T, size_t kSize>
void swap(T (&a)[kSize], T (&b)[kSize]);
template <class T, class Value = T>
T exchange(T& object, Value&& value);

template <class Function, class... Arguments>
::std::invoke_result_t<Function, Arguments...> invoke(Function&& function, Arguments&&... x);
template <class Predicate>
struct negated {
  template <class... Arguments>
  bool operator()(Arguments&&... x) const;
};
template <class Predicate>
negated<Predicate> not_fn(Predicate&& predicate);

template <class T>
struct reference_wrapper {
  using type = T;
  reference_wrapper(T& object);
  operator T&() const;
  T& get() const;
  template <class... Arguments>
  ::std::invoke_result_t<T&, Arguments...> operator()(Arguments&&... x) const;
};
template <class T>
reference_wrapper<T> ref(T& object);
template <class T>
reference_wrapper<const T> cref(const T& object);

// The last parameters, Rest, are functors.
template <class It, class T, class... Rest>
T accumulate(It first, It last, T start, Rest... function);
template <class It, class Other, class T, class... Rest>
T inner_product(It first, It last, Other other, T start, Rest... functions);
template <class It>
typename ::std::iterator_traits<It>::value_type reduce(It first, It last);
template <class It, class T, class... Rest>
T reduce(It first, It last, T start, Rest... function);
template <class It, class T, class... Rest>
T transform_reduce(It first, It last, T start, Rest... functions);
template <class It, class Other, class T>
T transform_reduce(It first, It last, Other other, T start);
template <class It, class Other, class T, class Reduce, class Transform>
T transform_reduce(It first, It last, Other other, T start, Reduce reduce, Transform transform);
template <class It, class T>
void iota(It first, It last, T value);
#define HOSTCUDA_SCAN(name)                     \
  template <class It, class Out, class... Rest> \
  Out name(It first, It last, Out out, Rest... rest);
HOSTCUDA_SCAN(partial_sum)
HOSTCUDA_SCAN(adjacent_difference)
HOSTCUDA_SCAN(inclusive_scan)
HOSTCUDA_SCAN(exclusive_scan)
HOSTCUDA_SCAN(transform_inclusive_scan)
HOSTCUDA_SCAN(transform_exclusive_scan)
#undef HOSTCUDA_SCAN

}  // namespace cuda::std
