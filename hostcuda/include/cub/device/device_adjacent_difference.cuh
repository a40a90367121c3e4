// hostcuda: cub::DeviceAdjacentDifference. One thread computes the differences in order.
#pragma once

#include <functional>

#include "../detail/device.cuh"

namespace cub {

struct DeviceAdjacentDifference {
  // out[i] = operation(in[i], in[i - 1]); the first element is copied.
  template <class In, class Out, class Operation = std::minus<>>
  static cudaError_t SubtractLeftCopy(void* temporary, std::size_t& bytes, In in, Out out,
                                      std::ptrdiff_t count, Operation operation = {},
                                      cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceAdjacentDifference", temporary, bytes, detail::kSomeBytes, stream,
        [in = detail::raw(in), out = detail::raw(out), count, operation]() mutable {
          // From the end, so that the output may overwrite the input.
          for (std::ptrdiff_t i = count - 1; i > 0; --i) out[i] = operation(in[i], in[i - 1]);
          if (count > 0) out[0] = in[0];
        });
  }
  // out[i] = operation(in[i], in[i + 1]); the last element is copied.
  template <class In, class Out, class Operation = std::minus<>>
  static cudaError_t SubtractRightCopy(void* temporary, std::size_t& bytes, In in, Out out,
                                       std::ptrdiff_t count, Operation operation = {},
                                       cudaStream_t stream = nullptr) {
    return detail::device_call(
        "cub::DeviceAdjacentDifference", temporary, bytes, detail::kSomeBytes, stream,
        [in = detail::raw(in), out = detail::raw(out), count, operation]() mutable {
          for (std::ptrdiff_t i = 0; i + 1 < count; ++i) out[i] = operation(in[i], in[i + 1]);
          if (count > 0) out[count - 1] = in[count - 1];
        });
  }
  template <class Data, class Operation = std::minus<>>
  static cudaError_t SubtractLeft(void* temporary, std::size_t& bytes, Data data,
                                  std::ptrdiff_t count, Operation operation = {},
                                  cudaStream_t stream = nullptr) {
    return SubtractLeftCopy(temporary, bytes, data, data, count, operation, stream);
  }
  template <class Data, class Operation = std::minus<>>
  static cudaError_t SubtractRight(void* temporary, std::size_t& bytes, Data data,
                                   std::ptrdiff_t count, Operation operation = {},
                                   cudaStream_t stream = nullptr) {
    return SubtractRightCopy(temporary, bytes, data, data, count, operation, stream);
  }
};

}  // namespace cub
