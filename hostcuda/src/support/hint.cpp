#include "support/hint.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string_view>

#include "support/observer.h"

namespace hostcuda {
namespace {

bool is_first() {
  static constinit std::atomic<bool> was_given = false;
  return !runtime_observer && !was_given.exchange(true);
}

}  // namespace

void hint(const std::string& sentence) {
  if (!is_first()) return;
  std::fflush(stdout);
  std::fprintf(stderr, "hostcuda: hint: %s; `hostcuda check` finds the cause\n", sentence.c_str());
}

void hint_at_fault() {
  constexpr std::string_view kText =
      "hostcuda: hint: `hostcuda check` names the array, the index and the line\n";
  if (is_first() && write(STDERR_FILENO, kText.data(), kText.size()) < 0) _exit(1);
}

}  // namespace hostcuda
