// hostcuda: cub::DeviceTransform. One thread calls the function for all elements, in order.
#pragma once

#include <tuple>

#include "../detail/device.cuh"

namespace cub {

struct DeviceTransform {
  // Stores operation(a[i], b[i], ...) in out[i]; the inputs are a tuple of the iterators a, b, ....
  template <class... Inputs, class Output, class Size, class Operation>
  static cudaError_t Transform(std::tuple<Inputs...> inputs, Output out, Size count,
                               Operation operation, cudaStream_t stream = nullptr) {
    const auto raw_inputs =
        std::apply([](auto... input) { return std::make_tuple(detail::raw(input)...); }, inputs);
    return detail::launch_one_thread(
        "cub::DeviceTransform", stream,
        [raw_inputs, out = detail::raw(out), count, operation]() mutable {
          for (Size i = 0; i < count; ++i)
            out[i] = std::apply([&](auto&... input) { return operation(input[i]...); }, raw_inputs);
        });
  }
  template <class Input, class Output, class Size, class Operation>
  static cudaError_t Transform(Input input, Output out, Size count, Operation operation,
                               cudaStream_t stream = nullptr) {
    return Transform(std::make_tuple(input), out, count, operation, stream);
  }
  // The operation may compute an element's index from its address. This is always so here.
  template <class Input, class Output, class Size, class Operation>
  static cudaError_t TransformStableArgumentAddresses(Input input, Output out, Size count,
                                                      Operation operation,
                                                      cudaStream_t stream = nullptr) {
    return Transform(input, out, count, operation, stream);
  }
};

}  // namespace cub
