// What every program of the project does around its work.
#pragma once

#include <functional>
#include <string_view>

namespace nbody {

enum ExitCode { kSuccess = 0, kFailed = 1, kUsage = 2, kNoDevice = 77 };

// Does the work and returns its exit code. What the work throws becomes one line on stderr that
// begins with the program's name, and a code: 2 for a UsageError, 77 for NoDevice (1 if
// NBODY_REQUIRE_GPU is 1), 1 for anything else.
int run_program(std::string_view name, const std::function<int()>& work);

// The revision of the source tree, which the build asks of git.
const char* revision();

}  // namespace nbody
