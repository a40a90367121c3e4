// Two kinds of failure, told apart by the exit code of a program.
#pragma once

#include <stdexcept>
#include <string>

namespace nbody {

// The text as one line that a terminal can show, whatever a file or an argument put into it:
// control characters become '?', and a text that is too long loses its middle.
std::string one_line(std::string text);

// The command line or an input file is invalid: one line that says what, where and what is allowed.
// Programs print it and exit 2; nothing has been written.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& text) : std::runtime_error(one_line(text)) {}
};

// No device to run on: exit 77, which ctest shows as skipped (NBODY_REQUIRE_GPU=1 makes it exit 1).
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nbody
