// Converts numbers to and from text, in the same way in every locale.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace nbody {

// Parses a whole token or nothing: rejects "12abc", "" and, for an integer, "1e3". Sets `error` as
// std::from_chars does, so that callers can distinguish a number that is too large from text that
// is not a number.
template <class Number>
std::optional<Number> parse_whole(std::string_view text, std::errc& error) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  error = code;
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}
template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  std::errc ignored{};
  return parse_whole<Number>(text, ignored);
}

// Parses an integer that may also be written as "1e5" or "2.5e6". Rejects "1.5" and "1e-3", which
// are not integers. Numbers above 2^53 must be written with all digits.
template <class Number>
std::optional<Number> parse_count(std::string_view text) {
  if (const auto value = parse_whole<Number>(text)) return value;
  if (text.find_first_of("eE") == std::string_view::npos) return std::nullopt;
  const auto value = parse_whole<double>(text);
  constexpr double exact = 1LL << 53;
  if (!value || !(*value >= 0 && *value <= exact) || std::floor(*value) != *value)
    return std::nullopt;
  return static_cast<Number>(*value);
}

// Returns the text without the characters of `outer` at its beginning and end.
inline std::string_view trimmed(std::string_view text, std::string_view outer = " \t") {
  const auto first = text.find_first_not_of(outer);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(outer) - first + 1);
}

// Returns the names of all elements that have a name, as "x, y, z".
template <class Range, class NameOf = std::identity>
std::string listed(const Range& range, const NameOf& name_of = {}) {
  std::string list;
  for (const auto& one : range)
    if (const std::string name(std::invoke(name_of, one)); !name.empty())
      list += (list.empty() ? "" : ", ") + name;
  return list;
}

// Returns the shortest text that reads back as the same number.
template <class Number>
std::string shortest(Number value) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

// Returns the number with `digits` significant digits, at most 17.
inline std::string in_digits(double value, int digits) {
  std::array<char, 32> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                       std::chars_format::general, digits)
                             .ptr};
}

// Formats up to 511 characters like printf; a pattern is easier to read than stream manipulators.
[[gnu::format(printf, 1, 2)]] inline std::string format(const char* pattern, ...) {
  std::array<char, 512> line;
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line.data(), line.size(), pattern, arguments);
  va_end(arguments);
  return line.data();
}

}  // namespace nbody
