// hostcuda: cub::DeviceScan. One thread scans in order; the output may overwrite the input.
#pragma once

#include "../../thrust/scan.h"
#include "../detail/device.cuh"

namespace cub {

struct DeviceScan {
  template <class In, class Out, class Operation>
  static cudaError_t InclusiveScan(void* temporary, std::size_t& bytes, In in, Out out,
                                   Operation operation, std::ptrdiff_t count,
                                   cudaStream_t stream = nullptr) {
    return inclusively(temporary, bytes, thrust::detail::no_keys(), in, out,
                       thrust::detail::one_segment(), operation, count, stream);
  }
  template <class In, class Out>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, In in, Out out,
                                  std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return InclusiveScan(temporary, bytes, in, out, Sum(), count, stream);
  }
  template <class Data>
  static cudaError_t InclusiveSum(void* temporary, std::size_t& bytes, Data data, int count,
                                  cudaStream_t stream = nullptr) {
    return InclusiveSum(temporary, bytes, data, data, count, stream);
  }
  template <class In, class Out, class Operation, class T>
  static cudaError_t ExclusiveScan(void* temporary, std::size_t& bytes, In in, Out out,
                                   Operation operation, T initial, std::ptrdiff_t count,
                                   cudaStream_t stream = nullptr) {
    return exclusively(temporary, bytes, thrust::detail::no_keys(), in, out,
                       thrust::detail::one_segment(), operation, initial, count, stream);
  }
  template <class In, class Out>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, In in, Out out,
                                  std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return ExclusiveScan(temporary, bytes, in, out, Sum(), detail::value_t<In>(), count, stream);
  }
  template <class Data>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, Data data, int count,
                                  cudaStream_t stream = nullptr) {
    return ExclusiveSum(temporary, bytes, data, data, count, stream);
  }
  template <class Keys, class In, class Out, class Operation>
  static cudaError_t InclusiveScanByKey(void* temporary, std::size_t& bytes, Keys keys, In in,
                                        Out out, Operation operation, std::ptrdiff_t count,
                                        cudaStream_t stream = nullptr) {
    return inclusively(temporary, bytes, keys, in, out, Equality(), operation, count, stream);
  }
  template <class Keys, class In, class Out, class Operation, class T>
  static cudaError_t ExclusiveScanByKey(void* temporary, std::size_t& bytes, Keys keys, In in,
                                        Out out, Operation operation, T initial,
                                        std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return exclusively(temporary, bytes, keys, in, out, Equality(), operation, initial, count,
                       stream);
  }
  template <class Keys, class In, class Out>
  static cudaError_t InclusiveSumByKey(void* temporary, std::size_t& bytes, Keys keys, In in,
                                       Out out, std::ptrdiff_t count,
                                       cudaStream_t stream = nullptr) {
    return inclusively(temporary, bytes, keys, in, out, Equality(), Sum(), count, stream);
  }
  template <class Keys, class In, class Out>
  static cudaError_t ExclusiveSumByKey(void* temporary, std::size_t& bytes, Keys keys, In in,
                                       Out out, std::ptrdiff_t count,
                                       cudaStream_t stream = nullptr) {
    return exclusively(temporary, bytes, keys, in, out, Equality(), Sum(), detail::value_t<In>(),
                       count, stream);
  }

 private:
  template <class Keys, class In, class Out, class Equal, class Operation>
  static cudaError_t inclusively(void* temporary, std::size_t& bytes, Keys keys, In in, Out out,
                                 Equal equal, Operation operation, std::ptrdiff_t count,
                                 cudaStream_t stream) {
    return detail::device_call("cub::DeviceScan", temporary, bytes, detail::kSomeBytes, stream,
                               [keys = detail::raw(keys), in = detail::raw(in),
                                out = detail::raw(out), equal, operation, count] {
                                 thrust::detail::scan_inclusively(thrust::host, "", keys, in, count,
                                                                  out, equal, operation);
                               });
  }
  template <class Keys, class In, class Out, class Equal, class Operation, class T>
  static cudaError_t exclusively(void* temporary, std::size_t& bytes, Keys keys, In in, Out out,
                                 Equal equal, Operation operation, T initial, std::ptrdiff_t count,
                                 cudaStream_t stream) {
    return detail::device_call("cub::DeviceScan", temporary, bytes, detail::kSomeBytes, stream,
                               [keys = detail::raw(keys), in = detail::raw(in),
                                out = detail::raw(out), equal, operation, initial, count] {
                                 thrust::detail::scan_exclusively(thrust::host, "", keys, in, count,
                                                                  out, initial, equal, operation);
                               });
  }
};

}  // namespace cub
