// Converts numbers to and from bytes in a given order, whatever the machine's byte order. Structs
// are never cast to bytes, because a file's layout must not depend on a compiler's padding.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace nbody::byte_order {

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// Returns the offset at which the i-th least significant byte is stored.
template <typename T>
constexpr std::size_t place(std::size_t i, std::endian order) {
  return order == std::endian::little ? i : sizeof(T) - 1 - i;
}

template <typename T>
void append(std::string& bytes, T value, std::endian order = std::endian::little) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  const auto bits = std::bit_cast<Bits<T>>(value);
  char stored[sizeof(T)];
  for (std::size_t i = 0; i < sizeof(T); ++i)
    stored[i] = static_cast<char>((bits >> (8 * place<T>(i, order))) & 0xff);
  bytes.append(stored, sizeof(T));
}

// The caller must have checked that `bytes` holds at least offset + sizeof(T) bytes.
template <typename T>
T load(std::string_view bytes, std::size_t offset, std::endian order = std::endian::little) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  Bits<T> bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bits |= static_cast<Bits<T>>(static_cast<unsigned char>(bytes[offset + place<T>(i, order)]))
            << (8 * i);
  return std::bit_cast<T>(bits);
}

}  // namespace nbody::byte_order
