#include "support/poison.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hostcuda {
namespace {

constexpr std::size_t kWord = sizeof kPoison;

constexpr auto pattern = [] {
  std::array<std::uint32_t, 16> words{};
  words.fill(kPoison);
  return words;
}();

// The bits of poison after a conversion from double to float, and from float to double.
constexpr std::uint64_t kPoisonAsDouble = std::uint64_t{kPoison} << 32 | kPoison;
constexpr std::uint32_t kNarrowed = 0xff800000u | (kPoisonAsDouble >> 29 & 0x7fffff);
constexpr std::uint64_t kWidened = std::uint64_t{0xfff} << 52 | (std::uint64_t{kPoison} & 0x7fffff)
                                                                    << 29;

std::uint32_t word_at(const char* address) {
  std::uint32_t word;
  std::memcpy(&word, address, kWord);
  return word;
}

// The words from `first` to `end`.
struct Words {
  const char *first, *end;

  bool is_poison(const char* at) const {
    const std::uint32_t word = word_at(at);
    if (word == kPoison || word == kNarrowed) return true;
    // One half of kWidened alone can be an ordinary number, so the other half must be next to it.
    if (word == static_cast<std::uint32_t>(kWidened))
      return at + kWord < end && word_at(at + kWord) == kWidened >> 32;
    return word == kWidened >> 32 && at != first &&
           word_at(at - kWord) == static_cast<std::uint32_t>(kWidened);
  }
  const char* begin_of_poison(const char* at) const {
    while (at != first && is_poison(at - kWord)) at -= kWord;
    return at;
  }
  const char* end_of_poison(const char* at) const {
    while (at != end && is_poison(at)) at += kWord;
    return at;
  }
};

}  // namespace

void fill_with_poison(void* begin, std::size_t size) {
  auto* byte = static_cast<char*>(begin);
  for (; size >= sizeof pattern; size -= sizeof pattern, byte += sizeof pattern)
    std::memcpy(byte, pattern.data(), sizeof pattern);
  std::memcpy(byte, pattern.data(), size);
}

bool is_poisoned(const void* begin, std::size_t size) {
  constexpr std::size_t kLeast = 64, kLeastAtEnd = 8;  // padding in structs is smaller
  const auto* const first = static_cast<const char*>(begin);
  const Words words{first, first + size / kWord * kWord};
  const auto length = [](const char* from, const char* to) {
    return static_cast<std::size_t>(to - from);
  };
  const std::size_t at_end = length(words.begin_of_poison(words.end), words.end);
  if (at_end && at_end >= std::min(kLeastAtEnd, size)) return true;
  const std::size_t needed = std::max(kLeast, size / 8);
  // The loop tests a word every kLeast / 2 bytes, so any `needed` bytes contain a tested word.
  for (const char* at = first; length(at, words.end) >= kLeast / 2; at += kLeast / 2)
    if (words.is_poison(at)) {
      const char* const from = words.begin_of_poison(at);
      at = words.end_of_poison(at) - kWord;
      if (length(from, at) + kWord >= needed) return true;
    }
  return false;
}

}  // namespace hostcuda
