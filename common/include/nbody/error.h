// Two kinds of failure, told apart by the exit code of a program.
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

namespace nbody {

// Texts, names of files and whole numbers as one text.
template <class... Parts>
std::string joined(Parts... parts) {
  const auto text = [](const auto& part) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(part)>>)
      return std::to_string(part);
    else
      return std::string(part);
  };
  return (std::string() + ... + text(parts));
}

// The text as one line that a terminal can show, whatever a file or an argument put into it:
// control characters become '?', and a text that is too long loses its middle.
std::string one_line(std::string text);

// The command line or an input file is invalid: one line that says what, where and what is allowed.
// Programs print it and exit 2; nothing has been written.
struct UsageError : std::runtime_error {
  template <class... Parts>
  explicit UsageError(Parts... parts) : std::runtime_error(one_line(joined(parts...))) {}
};

// Of an option, the value that it cannot have.
template <class Value, class... Parts>
[[noreturn]] void refuse(const std::string& option, const Value& value, Parts... allowed) {
  throw UsageError(option, ": \"", value, "\" is not allowed; ", allowed...);
}

// No device to run on: exit 77, which ctest shows as skipped (NBODY_REQUIRE_GPU=1 makes it exit 1).
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nbody
