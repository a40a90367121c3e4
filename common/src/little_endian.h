// Numbers to and from little-endian bytes, whatever the byte order of the machine. No struct is
// ever cast: the layout of a file must not depend on a compiler's padding.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace nbody::little_endian {

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <typename T>
void append(std::string& bytes, T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  const auto bits = std::bit_cast<Bits<T>>(value);
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>((bits >> (8 * i)) & 0xff);
}

// The caller has checked that `bytes` reaches to offset + sizeof(T).
template <typename T>
T load(std::string_view bytes, std::size_t offset) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  Bits<T> bits = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bits |= static_cast<Bits<T>>(static_cast<unsigned char>(bytes[offset + i])) << (8 * i);
  return std::bit_cast<T>(bits);
}

}  // namespace nbody::little_endian
