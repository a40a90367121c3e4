// CRC-32 of IEEE 802.3, as computed by zlib and Python's zlib.crc32. It detects every error of up
// to 32 consecutive bits. Of all other errors, it misses one in four billion.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nbody {

class Crc32 {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes)
      rest_ = kTable[(rest_ ^ static_cast<unsigned char>(c)) & 0xff] ^ (rest_ >> 8);
  }
  std::uint32_t value() const { return ~rest_; }

 private:
  // The CRC remainder of each byte value.
  static constexpr std::array<std::uint32_t, 256> kTable = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
      std::uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = (rest & 1 ? 0xedb88320u : 0u) ^ (rest >> 1);
      table[byte] = rest;
    }
    return table;
  }();

  std::uint32_t rest_ = ~0u;
};

}  // namespace nbody
