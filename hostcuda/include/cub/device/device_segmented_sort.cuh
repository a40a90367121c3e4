// hostcuda: cub::DeviceSegmentedRadixSort and cub::DeviceSegmentedSort. Segment k has the elements
// from begins[k] to ends[k] - 1. Every sort here is stable.
#pragma once

#include "../detail/device.cuh"
#include "../detail/radix.cuh"

namespace cub {
namespace detail {

// Temporary memory holds the digit counts, and then room for keys and values between passes.
template <class Key, class Value, class Begins, class Ends>
cudaError_t sort_segments(const char* name, void* temporary, std::size_t& bytes, const Key* keys,
                          Key* keys_out, const Value* values, Value* values_out,
                          std::ptrdiff_t count, std::ptrdiff_t segments, Begins begins, Ends ends,
                          radix_order order, cudaStream_t stream) {
  constexpr std::size_t kPlaces = kDigits * sizeof(std::uint64_t);
  const std::size_t key_bytes = (static_cast<std::size_t>(count) * sizeof(Key) + 255) / 256 * 256;
  const std::size_t needed =
      kPlaces + key_bytes + (is_null<Value> ? 0 : static_cast<std::size_t>(count) * sizeof(Value));
  return device_call(
      name, temporary, bytes, needed, stream,
      [=, begins = raw(begins), ends = raw(ends),
       memory = static_cast<unsigned char*>(temporary)]() mutable {
        auto* const places = reinterpret_cast<std::uint64_t*>(memory);
        const radix_room<Key, Value> room{reinterpret_cast<Key*>(memory + kPlaces),
                                          reinterpret_cast<Value*>(memory + kPlaces + key_bytes)};
        for (std::ptrdiff_t segment = 0; segment < segments; ++segment) {
          const auto begin = static_cast<std::ptrdiff_t>(begins[segment]);
          const auto end = static_cast<std::ptrdiff_t>(ends[segment]);
          if (begin < end)
            radix_sort(order, keys + begin, keys_out + begin, values + begin, values_out + begin,
                       static_cast<std::size_t>(end - begin), places, room);
        }
      });
}

}  // namespace detail

// The functions with keys, and with keys and values, in arrays or in DoubleBuffers, of which
// Current() is the result. BITS and PASSED: the parameters and the arguments for the range of bits.
#define HOSTCUDA_SORT_SEGMENTS(Name, Pairs, Keys, descending, BITS, PASSED)                      \
  template <class Key, class Value, class Begins, class Ends>                                    \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, const Key* keys, Key* keys_out,  \
                           const Value* values, Value* values_out, std::ptrdiff_t count,         \
                           std::ptrdiff_t segments, Begins begins, Ends ends BITS(Key),          \
                           cudaStream_t stream = nullptr) {                                      \
    return detail::sort_segments(Name, temporary, bytes, keys, keys_out, values, values_out,     \
                                 count, segments, begins, ends, {PASSED(Key), descending},       \
                                 stream);                                                        \
  }                                                                                              \
  template <class Key, class Begins, class Ends>                                                 \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, const Key* keys, Key* keys_out,   \
                          std::ptrdiff_t count, std::ptrdiff_t segments, Begins begins,          \
                          Ends ends BITS(Key), cudaStream_t stream = nullptr) {                  \
    return detail::sort_segments<Key, NullType>(Name, temporary, bytes, keys, keys_out, nullptr, \
                                                nullptr, count, segments, begins, ends,          \
                                                {PASSED(Key), descending}, stream);              \
  }                                                                                              \
  template <class Key, class Value, class Begins, class Ends>                                    \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, DoubleBuffer<Key>& keys,         \
                           DoubleBuffer<Value>& values, std::ptrdiff_t count,                    \
                           std::ptrdiff_t segments, Begins begins, Ends ends BITS(Key),          \
                           cudaStream_t stream = nullptr) {                                      \
    const cudaError_t error = detail::sort_segments<Key, Value>(                                 \
        Name, temporary, bytes, keys.Current(), keys.Alternate(), values.Current(),              \
        values.Alternate(), count, segments, begins, ends, {PASSED(Key), descending}, stream);   \
    if (temporary && error == cudaSuccess) keys.selector ^= 1, values.selector ^= 1;             \
    return error;                                                                                \
  }                                                                                              \
  template <class Key, class Begins, class Ends>                                                 \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, DoubleBuffer<Key>& keys,          \
                          std::ptrdiff_t count, std::ptrdiff_t segments, Begins begins,          \
                          Ends ends BITS(Key), cudaStream_t stream = nullptr) {                  \
    const cudaError_t error = detail::sort_segments<Key, NullType>(                              \
        Name, temporary, bytes, keys.Current(), keys.Alternate(), nullptr, nullptr, count,       \
        segments, begins, ends, {PASSED(Key), descending}, stream);                              \
    if (temporary && error == cudaSuccess) keys.selector ^= 1;                                   \
    return error;                                                                                \
  }
#define HOSTCUDA_BITS(Key) , int begin_bit = 0, int end_bit = 8 * sizeof(Key)
#define HOSTCUDA_PASS_BITS(Key) begin_bit, end_bit
#define HOSTCUDA_NO_BITS(Key)
#define HOSTCUDA_ALL_BITS(Key) 0, 8 * sizeof(Key)

struct DeviceSegmentedRadixSort {
  HOSTCUDA_SORT_SEGMENTS("cub::DeviceSegmentedRadixSort", SortPairs, SortKeys, false, HOSTCUDA_BITS,
                         HOSTCUDA_PASS_BITS)
  HOSTCUDA_SORT_SEGMENTS("cub::DeviceSegmentedRadixSort", SortPairsDescending, SortKeysDescending,
                         true, HOSTCUDA_BITS, HOSTCUDA_PASS_BITS)
};

struct DeviceSegmentedSort {
  HOSTCUDA_SORT_SEGMENTS("cub::DeviceSegmentedSort", SortPairs, SortKeys, false, HOSTCUDA_NO_BITS,
                         HOSTCUDA_ALL_BITS)
  HOSTCUDA_SORT_SEGMENTS("cub::DeviceSegmentedSort", SortPairsDescending, SortKeysDescending, true,
                         HOSTCUDA_NO_BITS, HOSTCUDA_ALL_BITS)
  HOSTCUDA_SORT_SEGMENTS("cub::DeviceSegmentedSort", StableSortPairs, StableSortKeys, false,
                         HOSTCUDA_NO_BITS, HOSTCUDA_ALL_BITS)
  HOSTCUDA_SORT_SEGMENTS("cub::DeviceSegmentedSort", StableSortPairsDescending,
                         StableSortKeysDescending, true, HOSTCUDA_NO_BITS, HOSTCUDA_ALL_BITS)
};
#undef HOSTCUDA_SORT_SEGMENTS
#undef HOSTCUDA_BITS
#undef HOSTCUDA_PASS_BITS
#undef HOSTCUDA_NO_BITS
#undef HOSTCUDA_ALL_BITS

}  // namespace cub
