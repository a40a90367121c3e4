// hostcuda: thrust::fill, uninitialized_fill, sequence, tabulate and generate.
#pragma once

#include "execution_policy.h"

namespace thrust {
namespace detail {

template <class Policy, class Iterator, class Size, class Make>
Iterator make_each(const Policy& policy, const char* name, Iterator first, Size count, Make make) {
  in_parallel(policy, name, static_cast<std::ptrdiff_t>(count),
              [to = raw(first), make](std::ptrdiff_t i) mutable { to[i] = make(i); });
  return first + static_cast<std::ptrdiff_t>(count);
}

template <class Policy, class Iterator, class Size, class T>
Iterator fill_n(const Policy& policy, Iterator first, Size count, T value) {
  return make_each(policy, "thrust::fill", first, count,
                   [value](std::ptrdiff_t) { return static_cast<value_t<Iterator>>(value); });
}
template <class Policy, class Iterator, class T>
void fill(const Policy& policy, Iterator first, Iterator last, T value) {
  detail::fill_n(policy, first, last - first, value);
}

// These construct the elements, which may be uninitialised memory.
template <class Policy, class Iterator, class Size, class T>
Iterator uninitialized_fill_n(const Policy& policy, Iterator first, Size count, T value) {
  in_parallel(policy, "thrust::uninitialized_fill", static_cast<std::ptrdiff_t>(count),
              [to = raw(first), value](std::ptrdiff_t i) {
                ::new (static_cast<void*>(&to[i])) value_t<Iterator>(value);
              });
  return first + static_cast<std::ptrdiff_t>(count);
}
template <class Policy, class Iterator, class T>
void uninitialized_fill(const Policy& policy, Iterator first, Iterator last, T value) {
  detail::uninitialized_fill_n(policy, first, last - first, value);
}

template <class Policy, class Iterator, class T, class Step>
void sequence(const Policy& policy, Iterator first, Iterator last, T begin, Step step) {
  using Value = value_t<Iterator>;
  make_each(policy, "thrust::sequence", first, last - first, [begin, step](std::ptrdiff_t i) {
    return static_cast<Value>(begin + static_cast<Value>(i) * step);
  });
}
template <class Policy, class Iterator, class T>
void sequence(const Policy& policy, Iterator first, Iterator last, T begin) {
  detail::sequence(policy, first, last, begin, value_t<Iterator>(1));
}
template <class Policy, class Iterator>
void sequence(const Policy& policy, Iterator first, Iterator last) {
  detail::sequence(policy, first, last, value_t<Iterator>(0));
}

template <class Policy, class Iterator, class Function>
void tabulate(const Policy& policy, Iterator first, Iterator last, Function function) {
  make_each(policy, "thrust::tabulate", first, last - first, function);
}

template <class Policy, class Iterator, class Size, class Generator>
Iterator generate_n(const Policy& policy, Iterator first, Size count, Generator generator) {
  return make_each(policy, "thrust::generate", first, count,
                   [generator](std::ptrdiff_t) mutable { return generator(); });
}
template <class Policy, class Iterator, class Generator>
void generate(const Policy& policy, Iterator first, Iterator last, Generator generator) {
  detail::generate_n(policy, first, last - first, generator);
}

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(fill)
HOSTCUDA_THRUST_ALGORITHM(fill_n)
HOSTCUDA_THRUST_ALGORITHM(uninitialized_fill)
HOSTCUDA_THRUST_ALGORITHM(uninitialized_fill_n)
HOSTCUDA_THRUST_ALGORITHM(sequence)
HOSTCUDA_THRUST_ALGORITHM(tabulate)
HOSTCUDA_THRUST_ALGORITHM(generate)
HOSTCUDA_THRUST_ALGORITHM(generate_n)
}  // namespace thrust
