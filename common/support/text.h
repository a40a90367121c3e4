// Numbers as text, the same in every locale.
#pragma once

#include <array>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <string>

namespace nbody {

// The shortest text that reads back as the same number.
template <class Number>
std::string shortest(Number value) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

// Rounded to so many significant digits, at most 17.
inline std::string in_digits(double value, int digits) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                       std::chars_format::general, digits)
                             .ptr};
}

// As printf, up to 511 characters: its formats are easier to read than stream manipulators.
[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
  std::array<char, 512> line;
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line.data(), line.size(), pattern, arguments);
  va_end(arguments);
  return line.data();
}

}  // namespace nbody
