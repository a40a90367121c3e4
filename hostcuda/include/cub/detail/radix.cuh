// hostcuda: maps keys to integers that have the same order, and sorts by a range of their bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "../util_type.cuh"

namespace cub {
namespace detail {

template <std::size_t kBytes>
using unsigned_of = std::conditional_t<
    kBytes == 1, std::uint8_t,
    std::conditional_t<kBytes == 2, std::uint16_t,
                       std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

// Maps -0.0 and 0.0 to the same integer.
template <class Key>
std::uint64_t sortable(const Key& key, bool descending) {
  static_assert(std::is_arithmetic_v<Key> && sizeof(Key) <= 8, "a radix sort is for numbers");
  using Bits = unsigned_of<sizeof(Key)>;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Key) - 1));
  Bits bits;
  std::memcpy(&bits, &key, sizeof key);
  if constexpr (std::is_floating_point_v<Key>) {
    if (bits == kSign) bits = 0;
    bits = static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
  } else if constexpr (std::is_signed_v<Key>) {
    bits = static_cast<Bits>(bits ^ kSign);
  }
  return descending ? static_cast<Bits>(~bits) : bits;
}

// The bits to sort by and the direction. Each pass sorts by a few bits, starting with the lowest.
struct radix_order {
  int begin_bit, end_bit;
  bool descending;

  static constexpr int kDigitBits = 8;
  int passes() const {
    const int bits = end_bit - begin_bit;
    return bits > 0 ? (bits + kDigitBits - 1) / kDigitBits : 0;
  }
  template <class Key>
  unsigned digit(const Key& key, int pass) const {
    const int low = begin_bit + pass * kDigitBits;
    const int bits = end_bit - low < kDigitBits ? end_bit - low : kDigitBits;
    return static_cast<unsigned>(sortable(key, descending) >> low) & ((1u << bits) - 1);
  }
};
constexpr std::size_t kDigits = std::size_t{1} << radix_order::kDigitBits;

template <class T>
constexpr bool is_null = std::is_same_v<std::remove_cv_t<T>, NullType>;

// Runs one pass, a stable sort by one digit. `places` has room for kDigits numbers.
template <class Key, class Value, class Size>
void radix_pass(const radix_order& order, int pass, const Key* keys, Key* keys_out,
                const Value* values, Value* values_out, Size count, std::uint64_t* places) {
  for (std::size_t digit = 0; digit < kDigits; ++digit) places[digit] = 0;
  for (Size i = 0; i < count; ++i) ++places[order.digit(keys[i], pass)];
  std::uint64_t before = 0;
  for (std::size_t digit = 0; digit < kDigits; ++digit)
    before += std::exchange(places[digit], before);
  for (Size i = 0; i < count; ++i) {
    const std::uint64_t place = places[order.digit(keys[i], pass)]++;
    keys_out[place] = keys[i];
    if constexpr (!is_null<Value>) values_out[place] = values[i];
  }
}

// Room for keys and values between two passes.
template <class Key, class Value>
struct radix_room {
  Key* keys;
  Value* values;
};

// Makes all passes, of which the last writes to `keys_out` and `values_out`.
template <class Key, class Value>
void radix_sort(const radix_order& order, const Key* keys, Key* keys_out, const Value* values,
                Value* values_out, std::size_t count, std::uint64_t* places,
                const radix_room<Key, Value>& room) {
  const int passes = order.passes();
  const Key* from = keys;
  const Value* values_from = values;
  for (int pass = 0; pass < passes; ++pass) {
    const bool to_out = (passes - pass) % 2 == 1;
    Key* const to = to_out ? keys_out : room.keys;
    Value* const values_to = to_out ? values_out : room.values;
    radix_pass(order, pass, from, to, values_from, values_to, count, places);
    from = to;
    values_from = values_to;
  }
  for (std::size_t i = 0; passes == 0 && i < count; ++i) {
    keys_out[i] = keys[i];
    if constexpr (!is_null<Value>) values_out[i] = values[i];
  }
}

}  // namespace detail
}  // namespace cub
