// hostcuda: cub::DeviceRadixSort, which makes one pass per 8 bits of the keys, lowest bits first.
#pragma once

#include "../detail/device.cuh"
#include "../detail/radix.cuh"

namespace cub {

struct DeviceRadixSort {
// With DoubleBuffers the input is overwritten; the result is in Current().
#define HOSTCUDA_SORT(Pairs, Keys, descending)                                                    \
  template <class Key, class Value, class Size>                                                   \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, const Key* keys, Key* keys_out,   \
                           const Value* values, Value* values_out, Size count, int begin_bit = 0, \
                           int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr) {        \
    return sort(temporary, bytes, keys, keys_out, values, values_out, count,                      \
                {begin_bit, end_bit, descending}, stream);                                        \
  }                                                                                               \
  template <class Key, class Size>                                                                \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, const Key* keys, Key* keys_out,    \
                          Size count, int begin_bit = 0, int end_bit = 8 * sizeof(Key),           \
                          cudaStream_t stream = nullptr) {                                        \
    return sort<Key, NullType>(temporary, bytes, keys, keys_out, nullptr, nullptr, count,         \
                               {begin_bit, end_bit, descending}, stream);                         \
  }                                                                                               \
  template <class Key, class Value, class Size>                                                   \
  static cudaError_t Pairs(void* temporary, std::size_t& bytes, DoubleBuffer<Key>& keys,          \
                           DoubleBuffer<Value>& values, Size count, int begin_bit = 0,            \
                           int end_bit = 8 * sizeof(Key), cudaStream_t stream = nullptr) {        \
    return sort(temporary, bytes, keys, values, count, {begin_bit, end_bit, descending}, stream); \
  }                                                                                               \
  template <class Key, class Size>                                                                \
  static cudaError_t Keys(void* temporary, std::size_t& bytes, DoubleBuffer<Key>& keys,           \
                          Size count, int begin_bit = 0, int end_bit = 8 * sizeof(Key),           \
                          cudaStream_t stream = nullptr) {                                        \
    DoubleBuffer<NullType> none;                                                                  \
    return sort(temporary, bytes, keys, none, count, {begin_bit, end_bit, descending}, stream);   \
  }
  HOSTCUDA_SORT(SortPairs, SortKeys, false)
  HOSTCUDA_SORT(SortPairsDescending, SortKeysDescending, true)
#undef HOSTCUDA_SORT

 private:
  // The digit counts come first in temporary memory, then room for keys and values between passes.
  static constexpr std::size_t kPlaces = detail::kDigits * sizeof(std::uint64_t);
  static std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

  template <class Key, class Value, class Size>
  static cudaError_t sort(void* temporary, std::size_t& bytes, const Key* keys, Key* keys_out,
                          const Value* values, Value* values_out, Size size,
                          detail::radix_order order, cudaStream_t stream) {
    const auto count = static_cast<std::size_t>(size);
    const std::size_t key_bytes = padded(count * sizeof(Key));
    const std::size_t needed =
        kPlaces + key_bytes + (detail::is_null<Value> ? 0 : padded(count * sizeof(Value)));
    return detail::device_call("cub::DeviceRadixSort", temporary, bytes, needed, stream,
                               [=, memory = static_cast<unsigned char*>(temporary)] {
                                 detail::radix_sort(
                                     order, keys, keys_out, values, values_out, count,
                                     reinterpret_cast<std::uint64_t*>(memory),
                                     detail::radix_room<Key, Value>{
                                         reinterpret_cast<Key*>(memory + kPlaces),
                                         reinterpret_cast<Value*>(memory + kPlaces + key_bytes)});
                               });
  }

  template <class Key, class Value, class Size>
  static cudaError_t sort(void* temporary, std::size_t& bytes, DoubleBuffer<Key>& keys,
                          DoubleBuffer<Value>& values, Size count, detail::radix_order order,
                          cudaStream_t stream) {
    const cudaError_t error = detail::device_call(
        "cub::DeviceRadixSort", temporary, bytes, kPlaces, stream,
        [=, memory = static_cast<unsigned char*>(temporary)]() mutable {
          for (int pass = 0; pass < order.passes(); ++pass) {
            detail::radix_pass(order, pass, keys.Current(), keys.Alternate(), values.Current(),
                               values.Alternate(), count, reinterpret_cast<std::uint64_t*>(memory));
            keys.selector ^= 1;
            values.selector ^= 1;
          }
        });
    if (temporary && error == cudaSuccess) {
      keys.selector ^= order.passes() & 1;
      values.selector ^= order.passes() & 1;
    }
    return error;
  }
};

}  // namespace cub
