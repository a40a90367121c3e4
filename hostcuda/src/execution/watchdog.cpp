#include "execution/watchdog.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "execution/block.h"
#include "support/config.h"
#include "support/fault.h"
#include "support/source_line.h"

#ifndef sigev_notify_thread_id  // glibc 2.36 has the field but not this name
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace hostcuda {
namespace {

__thread std::uint64_t last_progress;
constexpr int kTicks = 10;  // ticks until a thread that does not progress is reported
__thread int idle_ticks;

[[noreturn]] void report_from_signal(const void* context) {
  char place[512];
  const bool has_line = source_line(interrupted_code(context), place, sizeof place) ||
                        calling_line(place, sizeof place);
  report_hang(has_line ? place : "");
}

void on_tick(int, siginfo_t*, void* context) {
  if (!running_block || progress != last_progress) idle_ticks = 0;
  last_progress = progress;
  if (!running_block || ++idle_ticks <= kTicks) return;
  // If an observer exists, it reports the hang at the next access, because this signal may have
  // interrupted the C library. A thread that makes no accesses is reported here, one tick later.
  if (kernel_observer && !hang_is_to_be_reported)
    hang_is_to_be_reported = 1;
  else
    report_from_signal(context);
}

// A timer of the thread's processor time, which does not include time spent in a debugger.
class Timer {
 public:
  Timer() {
    struct sigaction action = {};
    action.sa_sigaction = on_tick;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigaction(kSignal, &action, nullptr);
    struct sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event.sigev_notify_thread_id = static_cast<int>(syscall(SYS_gettid));
    created_ = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
    const auto nanoseconds =
        std::max(static_cast<std::int64_t>(config().watchdog / kTicks * 1e9), std::int64_t{1});
    const struct timespec tick = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    const struct itimerspec each_tick = {tick, tick};
    if (created_) timer_settime(timer_, 0, &each_tick, nullptr);
  }
  ~Timer() {
    if (created_) timer_delete(timer_);
  }

 private:
  static constexpr int kSignal = SIGVTALRM;
  timer_t timer_{};
  bool created_ = false;
};

}  // namespace

volatile std::sig_atomic_t hang_is_to_be_reported;

void report_hang(const char* place) {
  char culprit[512], message[2048];
  name_culprit(culprit, sizeof culprit);
  const int length = std::snprintf(
      message, sizeof message,
      "\nhostcuda: ERROR: %s runs for %g s without reaching a barrier or its end%s%s\n"
      "  Is it waiting for another thread or block? Threads of a block run one at a time here, and "
      "a block\n  may have to wait until another block has ended, even on a GPU. "
      "HOSTCUDA_WATCHDOG=0 lets it run.\n",
      culprit, config().watchdog, *place ? "\n  at " : "", place);
  flush_output();
  if (write(STDERR_FILENO, message, static_cast<std::size_t>(length)) < 0) _exit(1);
  std::snprintf(message, sizeof message, "runs for %g s without reaching a barrier or its end",
                config().watchdog);
  keep_for_death("hang", message, place);
  std::abort();
}

void watch_for_hangs() {
  if (config().watchdog == 0) return;
  [[maybe_unused]] static thread_local const Timer timer;
}

}  // namespace hostcuda
