// hostcuda: element-wise functions (thrust::for_each, transform, replace, gather, scatter).
#pragma once

#include "execution_policy.h"

namespace thrust {
namespace detail {

template <class Policy, class Iterator, class Size, class Function>
Iterator for_each_n(const Policy& policy, Iterator first, Size count, Function function) {
  in_parallel(policy, "thrust::for_each", static_cast<std::ptrdiff_t>(count),
              [it = raw(first), function](std::ptrdiff_t i) mutable { function(it[i]); });
  return first + static_cast<std::ptrdiff_t>(count);
}
template <class Policy, class Iterator, class Function>
Iterator for_each(const Policy& policy, Iterator first, Iterator last, Function function) {
  return detail::for_each_n(policy, first, last - first, function);
}

// Calls act(i) for each i for which wanted(i) is true.
template <class Policy, class Wanted, class Act>
void act_where(const Policy& policy, const char* name, std::ptrdiff_t count, Wanted wanted,
               Act act) {
  in_parallel(policy, name, count, [wanted, act](std::ptrdiff_t i) mutable {
    if (wanted(i)) act(i);
  });
}

template <class Policy, class In, class Out, class Function>
Out transform(const Policy& policy, In first, In last, Out result, Function function) {
  in_parallel(policy, "thrust::transform", last - first,
              [in = raw(first), out = raw(result), function](std::ptrdiff_t i) mutable {
                out[i] = function(in[i]);
              });
  return result + (last - first);
}
template <class Policy, class In, class Other, class Out, class Function>
Out transform(const Policy& policy, In first, In last, Other other, Out result, Function function) {
  in_parallel(policy, "thrust::transform", last - first,
              [in = raw(first), in2 = raw(other), out = raw(result),
               function](std::ptrdiff_t i) mutable { out[i] = function(in[i], in2[i]); });
  return result + (last - first);
}
template <class Policy, class In, class Stencil, class Out, class Function, class Predicate>
Out transform_if(const Policy& policy, In first, In last, Stencil stencil, Out result,
                 Function function, Predicate predicate) {
  act_where(
      policy, "thrust::transform_if", last - first,
      [in = raw(stencil), predicate](std::ptrdiff_t i) mutable { return predicate(in[i]); },
      [in = raw(first), out = raw(result), function](std::ptrdiff_t i) mutable {
        out[i] = function(in[i]);
      });
  return result + (last - first);
}
template <class Policy, class In, class Out, class Function, class Predicate>
Out transform_if(const Policy& policy, In first, In last, Out result, Function function,
                 Predicate predicate) {
  return detail::transform_if(policy, first, last, first, result, function, predicate);
}

template <class Policy, class Iterator, class Predicate, class T>
void replace_if(const Policy& policy, Iterator first, Iterator last, Predicate predicate, T value) {
  act_where(
      policy, "thrust::replace", last - first,
      [in = raw(first), predicate](std::ptrdiff_t i) mutable { return predicate(in[i]); },
      [out = raw(first), value](std::ptrdiff_t i) { out[i] = value; });
}
template <class Policy, class Iterator, class T>
void replace(const Policy& policy, Iterator first, Iterator last, T old, T value) {
  detail::replace_if(
      policy, first, last, [old](const value_t<Iterator>& seen) { return seen == old; }, value);
}

template <class Policy, class Map, class In, class Out>
Out gather(const Policy& policy, Map first, Map last, In input, Out result) {
  in_parallel(policy, "thrust::gather", last - first,
              [map = raw(first), in = raw(input), out = raw(result)](std::ptrdiff_t i) {
                out[i] = in[static_cast<std::ptrdiff_t>(map[i])];
              });
  return result + (last - first);
}
template <class Policy, class Map, class Stencil, class In, class Out, class Predicate>
Out gather_if(const Policy& policy, Map first, Map last, Stencil stencil, In input, Out result,
              Predicate predicate) {
  act_where(
      policy, "thrust::gather_if", last - first,
      [wanted = raw(stencil), predicate](std::ptrdiff_t i) mutable {
        return static_cast<bool>(predicate(wanted[i]));
      },
      [map = raw(first), in = raw(input), out = raw(result)](std::ptrdiff_t i) {
        out[i] = in[static_cast<std::ptrdiff_t>(map[i])];
      });
  return result + (last - first);
}
template <class Policy, class Map, class Stencil, class In, class Out>
Out gather_if(const Policy& policy, Map first, Map last, Stencil stencil, In input, Out result) {
  return detail::gather_if(policy, first, last, stencil, input, result,
                           [](const auto& wanted) { return static_cast<bool>(wanted); });
}
template <class Policy, class A, class B>
B swap_ranges(const Policy& policy, A first, A last, B second) {
  in_parallel(policy, "thrust::swap_ranges", last - first,
              [a = raw(first), b = raw(second)](std::ptrdiff_t i) {
                const value_t<A> value = a[i];
                a[i] = b[i];
                b[i] = value;
              });
  return second + (last - first);
}
template <class Policy, class In, class Map, class Out>
void scatter(const Policy& policy, In first, In last, Map to, Out result) {
  in_parallel(policy, "thrust::scatter", last - first,
              [map = raw(to), in = raw(first), out = raw(result)](std::ptrdiff_t i) {
                out[static_cast<std::ptrdiff_t>(map[i])] = in[i];
              });
}
template <class Policy, class In, class Map, class Stencil, class Out>
void scatter_if(const Policy& policy, In first, In last, Map to, Stencil stencil, Out result) {
  act_where(
      policy, "thrust::scatter_if", last - first,
      [wanted = raw(stencil)](std::ptrdiff_t i) { return static_cast<bool>(wanted[i]); },
      [map = raw(to), in = raw(first), out = raw(result)](std::ptrdiff_t i) {
        out[static_cast<std::ptrdiff_t>(map[i])] = in[i];
      });
}

}  // namespace detail
HOSTCUDA_THRUST_ALGORITHM(for_each)
HOSTCUDA_THRUST_ALGORITHM(for_each_n)
HOSTCUDA_THRUST_ALGORITHM(transform)
HOSTCUDA_THRUST_ALGORITHM(transform_if)
HOSTCUDA_THRUST_ALGORITHM(replace)
HOSTCUDA_THRUST_ALGORITHM(replace_if)
HOSTCUDA_THRUST_ALGORITHM(gather)
HOSTCUDA_THRUST_ALGORITHM(gather_if)
HOSTCUDA_THRUST_ALGORITHM(swap_ranges)
HOSTCUDA_THRUST_ALGORITHM(scatter)
HOSTCUDA_THRUST_ALGORITHM(scatter_if)
}  // namespace thrust
