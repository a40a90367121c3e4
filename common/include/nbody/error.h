// Two kinds of failure, told apart by the exit code of a program.
#pragma once

#include <stdexcept>

namespace nbody {

// The user asked for something that cannot be: one line that says what, where and what is allowed.
// Programs print it and exit 2; nothing has been written.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// No device to run on: exit 77, which ctest shows as skipped (NBODY_REQUIRE_GPU=1 makes it exit 1).
struct NoDevice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace nbody
