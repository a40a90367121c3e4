// The errors that a program distinguishes by its exit code.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace nbody {

// A part of a message: a string, a file name or an integer. It refers to the value that it was
// constructed from and must not outlive that value.
class Part {
 public:
  template <class T>
  Part(const T& part) {
    if constexpr (std::is_integral_v<T>) {
      is_number_ = true;
      if constexpr (std::is_signed_v<T>) is_negative_ = part < 0;
      size_ = is_negative_ ? 0 - static_cast<unsigned long long>(part) : part;
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      text_ = part;
    } else {
      text_ = part.native();
    }
  }
  void append_to(std::string& text) const;

 private:
  std::string_view text_;
  unsigned long long size_ = 0;  // absolute value of the integer
  bool is_number_ = false, is_negative_ = false;
};

// Not a template, because a template would be compiled again for every combination of parts.
std::string joined_parts(std::initializer_list<Part> parts);

template <class... Parts>
std::string joined(const Parts&... parts) {
  return joined_parts({Part(parts)...});
}

// Returns the text as one line that is safe to print, even if it quotes a file or an argument:
// control characters become '?', and a long text loses its middle.
std::string one_line(std::string text);

// The command line or an input file is invalid. The message says in one line what is wrong, where,
// and what is allowed. Programs print it and exit with code 2, having written nothing.
struct UsageError : std::runtime_error {
  template <class... Parts>
  explicit UsageError(const Parts&... parts) : std::runtime_error(one_line(joined(parts...))) {}
};

// Throws an error whose message gives an option, its rejected value and the allowed values.
template <class Value, class... Parts>
[[noreturn]] void refuse(const std::string& option, const Value& value, const Parts&... allowed) {
  throw UsageError(option, ": \"", value, "\" is not allowed; ", allowed...);
}

// No device was found. The program exits with code 77, which ctest shows as skipped, or with 1 if
// NBODY_REQUIRE_GPU=1.
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nbody
