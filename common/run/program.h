// Exit codes, signals and the revision, for all main programs.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace nbody {

enum ExitCode { kSuccess = 0, kFailed = 1, kUsage = 2, kNoDevice = 77 };

// Calls `work` and returns its exit code. An exception becomes one line on stderr, beginning with
// the program's name, and a code: 2 for a UsageError, 77 for NoDevice (1 if NBODY_REQUIRE_GPU is
// 1), 1 for anything else.
int run_program(std::string_view name, const std::function<int()>& work);

// While this object lives, Ctrl-C and kill (SIGINT, SIGTERM) are only recorded, and the run checks
// for them between two calls of simulate. A second signal ends the process at once.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  int signal() const;     // number of the signal that came; 0: none so far
  static bool is_open();  // true while such an object lives and no signal has come
};

// Thrown to end an interrupted program: run_program prints the text, and the signal then ends the
// process.
struct Interrupted : std::runtime_error {
  Interrupted(int number, const std::string& text) : std::runtime_error(text), signal(number) {}
  int signal;
};

// Returns the revision of the source tree, which the build gets from git.
const char* revision();

}  // namespace nbody
