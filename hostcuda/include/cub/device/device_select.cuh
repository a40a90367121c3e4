// hostcuda: cub::DeviceSelect and cub::DevicePartition.
#pragma once

#include "../../thrust/remove.h"
#include "../detail/device.cuh"

namespace cub {
namespace detail {

// flagged() and chosen() return a test that is true if element i is selected.
template <class Flags>
auto flagged(Flags flags) {
  return [flags = raw(flags)](std::ptrdiff_t i) { return static_cast<bool>(flags[i]); };
}
template <class In, class Predicate>
auto chosen(In in, Predicate predicate) {
  return [in = raw(in), predicate](std::ptrdiff_t i) mutable {
    return static_cast<bool>(predicate(in[i]));
  };
}

}  // namespace detail

struct DeviceSelect {
  template <class In, class Flags, class Out, class Number>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, In in, Flags flags, Out out,
                             Number number, std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return select(temporary, bytes, in, out, number, count, detail::flagged(flags), stream);
  }
  template <class Data, class Flags, class Number>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, Data data, Flags flags,
                             Number number, int count, cudaStream_t stream = nullptr) {
    return Flagged(temporary, bytes, data, flags, data, number, count, stream);
  }
  template <class In, class Out, class Number, class Predicate,
            class = std::enable_if_t<!std::is_integral_v<Out>>>
  static cudaError_t If(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                        std::ptrdiff_t count, Predicate predicate, cudaStream_t stream = nullptr) {
    return select(temporary, bytes, in, out, number, count, detail::chosen(in, predicate), stream);
  }
  template <class Data, class Number, class Predicate,
            class = std::enable_if_t<!std::is_integral_v<Predicate>>>
  static cudaError_t If(void* temporary, std::size_t& bytes, Data data, Number number, int count,
                        Predicate predicate, cudaStream_t stream = nullptr) {
    return If(temporary, bytes, data, data, number, count, predicate, stream);
  }
  template <class In, class Out, class Number>
  static cudaError_t Unique(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                            std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceSelect::Unique", temporary, bytes, detail::kSomeBytes, stream,
        [in = detail::raw(in), out = detail::raw(out), number = detail::raw(number), count] {
          *number = static_cast<detail::value_t<Number>>(
              thrust::unique_copy(thrust::seq, in, in + count, out) - out);
        });
  }
  // Selects the first key of each run of equal keys, and its value.
  template <class Keys, class Values, class KeysOut, class ValuesOut, class Number>
  static cudaError_t UniqueByKey(void* temporary, std::size_t& bytes, Keys keys, Values values,
                                 KeysOut keys_out, ValuesOut values_out, Number number,
                                 std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceSelect::UniqueByKey", temporary, bytes, detail::kSomeBytes, stream,
        [keys = detail::raw(keys), values = detail::raw(values), to_keys = detail::raw(keys_out),
         to_values = detail::raw(values_out), number = detail::raw(number), count] {
          std::ptrdiff_t chosen = 0;
          for (std::ptrdiff_t i = 0; i < count; ++i) {
            if (i > 0 && keys[i] == keys[i - 1]) continue;
            to_keys[chosen] = keys[i];
            to_values[chosen++] = values[i];
          }
          *number = static_cast<detail::value_t<Number>>(chosen);
        });
  }

 private:
  template <class In, class Out, class Number, class Wanted>
  static cudaError_t select(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                            std::ptrdiff_t count, Wanted wanted, cudaStream_t stream) {
    return detail::device_call("cub::DeviceSelect", temporary, bytes, detail::kSomeBytes, stream,
                               [in = detail::raw(in), out = detail::raw(out),
                                number = detail::raw(number), count, wanted] {
                                 *number = static_cast<detail::value_t<Number>>(
                                     thrust::detail::pack(in, count, out, wanted));
                               });
  }
};

// Puts the chosen elements first, in order, and the others at the end, in reverse order.
struct DevicePartition {
  template <class In, class Flags, class Out, class Number>
  static cudaError_t Flagged(void* temporary, std::size_t& bytes, In in, Flags flags, Out out,
                             Number number, std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return partition(temporary, bytes, in, out, number, count, detail::flagged(flags), stream);
  }
  template <class In, class Out, class Number, class Predicate>
  static cudaError_t If(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                        std::ptrdiff_t count, Predicate predicate, cudaStream_t stream = nullptr) {
    return partition(temporary, bytes, in, out, number, count, detail::chosen(in, predicate),
                     stream);
  }
  // Three parts, each in order: elements for which the first test is true, then the second, or
  // none. numbers[0] and numbers[1] get the sizes of the first two parts.
  template <class In, class First, class Second, class Others, class Numbers, class TestFirst,
            class TestSecond>
  static cudaError_t If(void* temporary, std::size_t& bytes, In in, First first, Second second,
                        Others others, Numbers numbers, std::ptrdiff_t count, TestFirst test_first,
                        TestSecond test_second, cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DevicePartition", temporary, bytes, detail::kSomeBytes, stream,
        [in = detail::raw(in), first = detail::raw(first), second = detail::raw(second),
         others = detail::raw(others), numbers = detail::raw(numbers), count, test_first,
         test_second]() mutable {
          std::ptrdiff_t in_first = 0, in_second = 0, in_others = 0;
          for (std::ptrdiff_t i = 0; i < count; ++i) {
            if (test_first(in[i]))
              first[in_first++] = in[i];
            else if (test_second(in[i]))
              second[in_second++] = in[i];
            else
              others[in_others++] = in[i];
          }
          numbers[0] = static_cast<detail::value_t<Numbers>>(in_first);
          numbers[1] = static_cast<detail::value_t<Numbers>>(in_second);
        });
  }

 private:
  template <class In, class Out, class Number, class Wanted>
  static cudaError_t partition(void* temporary, std::size_t& bytes, In in, Out out, Number number,
                               std::ptrdiff_t count, Wanted is_chosen, cudaStream_t stream) {
    return detail::device_call("cub::DevicePartition", temporary, bytes, detail::kSomeBytes, stream,
                               [in = detail::raw(in), out = detail::raw(out),
                                number = detail::raw(number), count, is_chosen]() mutable {
                                 std::ptrdiff_t front = 0, back = count;
                                 for (std::ptrdiff_t i = 0; i < count; ++i)
                                   out[is_chosen(i) ? front++ : --back] = in[i];
                                 *number = static_cast<detail::value_t<Number>>(front);
                               });
  }
};

}  // namespace cub
