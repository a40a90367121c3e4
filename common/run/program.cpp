#include "run/program.h"

#include <omp.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>
#include <system_error>

#include "nbody/error.h"
#include "support/threads.h"

namespace nbody {

namespace {

volatile std::sig_atomic_t interrupting_signal = 0;
std::atomic<bool> is_interruptible = false;

struct sigaction actions_before[2];
constexpr int kSignals[2] = {SIGINT, SIGTERM};

}  // namespace

Interruption::Interruption() {
  interrupting_signal = 0;
  struct sigaction action {};
  action.sa_handler = [](int number) { interrupting_signal = number; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (int k = 0; k < 2; ++k) {
    sigaction(kSignals[k], nullptr, &actions_before[k]);
    // nohup, or a shell that starts the program in the background, may have made the program ignore
    // a signal; then the program continues to ignore this signal.
    if (actions_before[k].sa_handler != SIG_IGN) sigaction(kSignals[k], &action, nullptr);
  }
  is_interruptible = true;
}

Interruption::~Interruption() {
  is_interruptible = false;
  for (int k = 0; k < 2; ++k) sigaction(kSignals[k], &actions_before[k], nullptr);
}

int Interruption::signal() const { return interrupting_signal; }
bool Interruption::is_open() { return is_interruptible && interrupting_signal == 0; }

int run_program(std::string_view name, const std::function<int()>& work) {
  const auto say = [name](const char* what, int code) {
    std::cerr << name << ": " << what << '\n';
    return code;
  };
  // Ignores the signal, so that a write beyond the limit of ulimit -f fails as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    require_threads(omp_get_max_threads());
  } catch (const std::runtime_error& error) {
    // Exits without cleaning up, because OpenBLAS would wait forever for threads that it could not
    // start.
    std::_Exit(say(error.what(), kFailed));
  }
  try {
    const int code = work();
    if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
    return code;
  } catch (const Interrupted& interrupted) {
    say(interrupted.what(), kFailed);
    std::signal(interrupted.signal, SIG_DFL);
    std::raise(interrupted.signal);
    return kFailed;
  } catch (const UsageError& error) {
    return say(error.what(), kUsage);
  } catch (const NoDevice& error) {
    const char* required = std::getenv("NBODY_REQUIRE_GPU");
    return say(error.what(),
               required != nullptr && std::string_view(required) == "1" ? kFailed : kNoDevice);
  } catch (const std::bad_alloc&) {
    return say("out of memory", kFailed);
  } catch (const std::system_error& error) {
    const bool is_thread = error.code() == std::errc::resource_unavailable_try_again;
    return say(((is_thread ? "cannot start a thread: " : "") + std::string(error.what())).c_str(),
               kFailed);
  } catch (const std::exception& error) {
    return say(error.what(), kFailed);
  }
}

}  // namespace nbody
