// hostcuda: cub::DeviceRunLengthEncode.
#pragma once

#include "../detail/device.cuh"

namespace cub {

struct DeviceRunLengthEncode {
  template <class In, class Values, class Lengths, class Runs>
  static cudaError_t Encode(void* temporary, std::size_t& bytes, In in, Values values,
                            Lengths lengths, Runs runs, std::ptrdiff_t count,
                            cudaStream_t stream = nullptr) {
    return for_runs(
        temporary, bytes, in, runs, count, stream,
        [in = detail::raw(in), values = detail::raw(values), lengths = detail::raw(lengths)](
            std::ptrdiff_t run, std::ptrdiff_t begin, std::ptrdiff_t length) {
          values[run] = in[begin];
          lengths[run] = static_cast<detail::value_t<Lengths>>(length);
          return true;
        });
  }
  // Finds only runs of at least two equal elements.
  template <class In, class Offsets, class Lengths, class Runs>
  static cudaError_t NonTrivialRuns(void* temporary, std::size_t& bytes, In in, Offsets offsets,
                                    Lengths lengths, Runs runs, std::ptrdiff_t count,
                                    cudaStream_t stream = nullptr) {
    return for_runs(temporary, bytes, in, runs, count, stream,
                    [offsets = detail::raw(offsets), lengths = detail::raw(lengths)](
                        std::ptrdiff_t run, std::ptrdiff_t begin, std::ptrdiff_t length) {
                      if (length < 2) return false;
                      offsets[run] = static_cast<detail::value_t<Offsets>>(begin);
                      lengths[run] = static_cast<detail::value_t<Lengths>>(length);
                      return true;
                    });
  }

 private:
  // Calls take(index, begin, length) for each run; `take` returns true if it used the run.
  template <class In, class Runs, class Take>
  static cudaError_t for_runs(void* temporary, std::size_t& bytes, In in, Runs runs,
                              std::ptrdiff_t count, cudaStream_t stream, Take take) {
    return detail::device_call("cub::DeviceRunLengthEncode", temporary, bytes, detail::kSomeBytes,
                               stream,
                               [in = detail::raw(in), runs = detail::raw(runs), count, take] {
                                 std::ptrdiff_t taken = 0;
                                 for (std::ptrdiff_t begin = 0, end; begin < count; begin = end) {
                                   for (end = begin + 1; end < count && in[begin] == in[end];)
                                     ++end;
                                   if (take(taken, begin, end - begin)) ++taken;
                                 }
                                 *runs = static_cast<detail::value_t<Runs>>(taken);
                               });
  }
};

}  // namespace cub
