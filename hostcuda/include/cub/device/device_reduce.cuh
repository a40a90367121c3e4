// hostcuda: cub::DeviceReduce and DeviceSegmentedReduce. One thread reduces the elements in order.
#pragma once

#include <limits>

#include "../../thrust/reduce.h"
#include "../detail/device.cuh"

namespace cub {

struct DeviceReduce {
  template <class In, class Out, class Operation, class Function, class T>
  static cudaError_t TransformReduce(void* temporary, std::size_t& bytes, In in, Out out,
                                     std::ptrdiff_t count, Operation operation, Function function,
                                     T initial, cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceReduce", temporary, bytes, detail::kSomeBytes, stream,
        [in = detail::raw(in), out = detail::raw(out), count, operation, function, initial] {
          T result = initial;
          for (std::ptrdiff_t i = 0; i < count; ++i) result = operation(result, function(in[i]));
          *out = result;
        });
  }
  template <class In, class Out, class Operation, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, In in, Out out,
                            std::ptrdiff_t count, Operation operation, T initial,
                            cudaStream_t stream = nullptr) {
    return TransformReduce(temporary, bytes, in, out, count, operation,
                           thrust::identity<detail::value_t<In>>(), initial, stream);
  }
  template <class In, class Out>
  static cudaError_t Sum(void* temporary, std::size_t& bytes, In in, Out out, std::ptrdiff_t count,
                         cudaStream_t stream = nullptr) {
    return Reduce(temporary, bytes, in, out, count, cub::Sum(), detail::value_t<Out>(), stream);
  }
#define HOSTCUDA_EXTREME(Name, worst)                                                          \
  template <class In, class Out>                                                               \
  static cudaError_t Name(void* temporary, std::size_t& bytes, In in, Out out,                 \
                          std::ptrdiff_t count, cudaStream_t stream = nullptr) {               \
    return Reduce(temporary, bytes, in, out, count, cub::Name(),                               \
                  std::numeric_limits<detail::value_t<In>>::worst(), stream);                  \
  }                                                                                            \
  template <class In, class Out>                                                               \
  static cudaError_t Arg##Name(void* temporary, std::size_t& bytes, In in, Out out, int count, \
                               cudaStream_t stream = nullptr) {                                \
    return best(temporary, bytes, in, out, count, cub::Arg##Name(), stream);                   \
  }
  HOSTCUDA_EXTREME(Min, max)
  HOSTCUDA_EXTREME(Max, lowest)
#undef HOSTCUDA_EXTREME
  template <class Keys, class KeysOut, class Values, class ValuesOut, class Runs, class Operation>
  static cudaError_t ReduceByKey(void* temporary, std::size_t& bytes, Keys keys, KeysOut keys_out,
                                 Values values, ValuesOut values_out, Runs runs,
                                 Operation operation, std::ptrdiff_t count,
                                 cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceReduce::ReduceByKey", temporary, bytes, detail::kSomeBytes, stream,
        [keys = detail::raw(keys), to_keys = detail::raw(keys_out), values = detail::raw(values),
         to_values = detail::raw(values_out), runs = detail::raw(runs), operation, count] {
          *runs = static_cast<detail::value_t<Runs>>(thrust::detail::reduce_runs(
              keys, count, values, to_keys, to_values, Equality(), operation));
        });
  }

 private:
  template <class In, class Out, class Operation>
  static cudaError_t best(void* temporary, std::size_t& bytes, In in, Out out, int count,
                          Operation operation, cudaStream_t stream) {
    using Pair = KeyValuePair<int, detail::value_t<In>>;
    return detail::device_call("cub::DeviceReduce", temporary, bytes, detail::kSomeBytes, stream,
                               [in = detail::raw(in), out = detail::raw(out), count, operation] {
                                 Pair result{0, in[0]};
                                 for (int i = 1; i < count; ++i)
                                   result = operation(result, Pair{i, in[i]});
                                 out->key = result.key;
                                 out->value = result.value;
                               });
  }
};

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begins, class Ends, class Operation, class T>
  static cudaError_t Reduce(void* temporary, std::size_t& bytes, In in, Out out,
                            std::ptrdiff_t segments, Begins begins, Ends ends, Operation operation,
                            T initial, cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceSegmentedReduce", temporary, bytes, detail::kSomeBytes, stream,
        [in = detail::raw(in), out = detail::raw(out), segments, begins = detail::raw(begins),
         ends = detail::raw(ends), operation, initial] {
          for (std::ptrdiff_t segment = 0; segment < segments; ++segment) {
            T result = initial;
            for (auto i = begins[segment]; i < ends[segment]; ++i)
              result = operation(result, in[i]);
            out[segment] = result;
          }
        });
  }
  template <class In, class Out, class Begins, class Ends>
  static cudaError_t Sum(void* temporary, std::size_t& bytes, In in, Out out,
                         std::ptrdiff_t segments, Begins begins, Ends ends,
                         cudaStream_t stream = nullptr) {
    return Reduce(temporary, bytes, in, out, segments, begins, ends, cub::Sum(),
                  detail::value_t<Out>(), stream);
  }
#define HOSTCUDA_EXTREME(Name, worst)                                             \
  template <class In, class Out, class Begins, class Ends>                        \
  static cudaError_t Name(void* temporary, std::size_t& bytes, In in, Out out,    \
                          std::ptrdiff_t segments, Begins begins, Ends ends,      \
                          cudaStream_t stream = nullptr) {                        \
    return Reduce(temporary, bytes, in, out, segments, begins, ends, cub::Name(), \
                  std::numeric_limits<detail::value_t<In>>::worst(), stream);     \
  }
  HOSTCUDA_EXTREME(Min, max)
  HOSTCUDA_EXTREME(Max, lowest)
#undef HOSTCUDA_EXTREME
};

}  // namespace cub
