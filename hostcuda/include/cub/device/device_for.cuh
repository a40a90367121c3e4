// hostcuda: cub::DeviceFor. One thread calls the function for all elements, in order.
#pragma once

#include "../detail/device.cuh"

namespace cub {

struct DeviceFor {
  template <class Size, class Function>
  static cudaError_t Bulk(Size count, Function function, cudaStream_t stream = nullptr) {
    return detail::launch_one_thread("cub::DeviceFor", stream, [count, function]() mutable {
      for (Size i = 0; i < count; ++i) function(i);
    });
  }
  template <class Iterator, class Size, class Function>
  static cudaError_t ForEachN(Iterator first, Size count, Function function,
                              cudaStream_t stream = nullptr) {
    return detail::launch_one_thread("cub::DeviceFor", stream,
                                     [first = detail::raw(first), count, function]() mutable {
                                       for (Size i = 0; i < count; ++i) function(first[i]);
                                     });
  }
  template <class Iterator, class Function>
  static cudaError_t ForEach(Iterator first, Iterator last, Function function,
                             cudaStream_t stream = nullptr) {
    return ForEachN(first, last - first, function, stream);
  }
  // The function gets a copy of each element.
  template <class Iterator, class Size, class Function>
  static cudaError_t ForEachCopyN(Iterator first, Size count, Function function,
                                  cudaStream_t stream = nullptr) {
    return detail::launch_one_thread("cub::DeviceFor", stream,
                                     [first = detail::raw(first), count, function]() mutable {
                                       for (Size i = 0; i < count; ++i) {
                                         detail::value_t<Iterator> copy = first[i];
                                         function(copy);
                                       }
                                     });
  }
  template <class Iterator, class Function>
  static cudaError_t ForEachCopy(Iterator first, Iterator last, Function function,
                                 cudaStream_t stream = nullptr) {
    return ForEachCopyN(first, last - first, function, stream);
  }
};

}  // namespace cub
