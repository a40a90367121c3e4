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
