// What every program of the project does around its work.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nbody {

enum ExitCode { kSuccess = 0, kFailed = 1, kUsage = 2, kNoDevice = 77 };

// Does the work and returns its exit code. What the work throws becomes one line on stderr that
// begins with the program's name, and a code: 2 for a UsageError, 77 for NoDevice (1 if
// NBODY_REQUIRE_GPU is 1), 1 for anything else.
int run_program(std::string_view name, const std::function<int()>& work);

// Ctrl-C and kill (SIGINT, SIGTERM) as a request that is looked at between two pieces of work,
// while this object lives. A second one ends the process at once.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  int signal() const;     // 0: none so far
  static bool is_open();  // to a first one: there is such an object
};

// Ends a program that was interrupted: run_program prints the line, and the process dies of the
// signal.
struct Interrupted : std::runtime_error {
  Interrupted(int number, const std::string& text) : std::runtime_error(text), signal(number) {}
  int signal;
};

// The revision of the source tree, which the build asks of git.
const char* revision();

}  // namespace nbody
