// hostcuda: cub::DeviceHistogram for samples with one channel.
#pragma once

#include <algorithm>

#include "../detail/device.cuh"

namespace cub {

struct DeviceHistogram {
  // num_levels boundaries make num_levels - 1 equal bins, which exclude their upper boundaries.
  template <class Samples, class Counter, class Level>
  static cudaError_t HistogramEven(void* temporary, std::size_t& bytes, Samples samples,
                                   Counter* histogram, int num_levels, Level lower, Level upper,
                                   std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    using Common = std::common_type_t<Level, detail::value_t<Samples>>;
    return fill(temporary, bytes, samples, histogram, num_levels - 1, count, stream,
                [=](Common value) {
                  if (value < static_cast<Common>(lower) || value >= static_cast<Common>(upper))
                    return -1;
                  const double part = static_cast<double>(value - static_cast<Common>(lower)) /
                                      static_cast<double>(upper - lower);
                  return std::min(num_levels - 2, static_cast<int>(part * (num_levels - 1)));
                });
  }
  template <class Samples, class Counter, class Level>
  static cudaError_t HistogramRange(void* temporary, std::size_t& bytes, Samples samples,
                                    Counter* histogram, int num_levels, const Level* levels,
                                    std::ptrdiff_t count, cudaStream_t stream = nullptr) {
    return fill(temporary, bytes, samples, histogram, num_levels - 1, count, stream,
                [=](const detail::value_t<Samples>& value) {
                  const Level* above = std::upper_bound(levels, levels + num_levels, value);
                  return above == levels + num_levels ? -1 : static_cast<int>(above - levels) - 1;
                });
  }

 private:
  // bin_of(value) returns the index of the value's bin, or -1 if the value is outside all bins.
  template <class Samples, class Counter, class BinOf>
  static cudaError_t fill(void* temporary, std::size_t& bytes, Samples samples, Counter* histogram,
                          int bins, std::ptrdiff_t count, cudaStream_t stream, BinOf bin_of) {
    return detail::device_call("cub::DeviceHistogram", temporary, bytes, detail::kSomeBytes, stream,
                               [samples = detail::raw(samples), histogram, bins, count, bin_of] {
                                 for (int bin = 0; bin < bins; ++bin) histogram[bin] = 0;
                                 for (std::ptrdiff_t i = 0; i < count; ++i)
                                   if (const int bin = bin_of(samples[i]); bin >= 0)
                                     ++histogram[bin];
                               });
  }
};

}  // namespace cub
