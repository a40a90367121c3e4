#include "support/progress.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

namespace hostcuda {

Progress grid_progress;

namespace {

bool (*name_of_wait)(char* text, std::size_t size);

// Converts a number to the type that %llu prints.
unsigned long long plain(std::uint64_t value) { return value; }

void on_stop(int signal) {
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  const Progress& now = grid_progress;
  char text[1024], wait[512], last[544] = "";
  int length = 0;
  if (name_of_wait && name_of_wait(wait, sizeof wait))
    std::snprintf(last, sizeof last, "; %s", wait);
  const auto seconds = static_cast<long long>(used.tv_sec);
  if (const char* kernel = now.kernel) {
    std::uint64_t ended = 0;
    for (const Progress::Count& count : now.by_worker) ended += count.ended;
    length = std::snprintf(text, sizeof text,
                           "\nhostcuda: stopped after %lld s of processor time: %llu of the %llu "
                           "blocks of kernel %s (launched at %s:%d) have ended, after %llu earlier "
                           "launches%s\n",
                           seconds, plain(ended * now.blocks_per_unit),
                           plain(now.units * now.blocks_per_unit), kernel, now.file, now.line,
                           plain(now.launches), last);
  } else {
    length = std::snprintf(
        text, sizeof text,
        "\nhostcuda: stopped after %lld s of processor time in host code, after %llu launches\n",
        seconds, plain(now.launches));
  }
  if (write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) _exit(1);
  raise(signal);  // SA_RESETHAND restored the default, which ends the process
}

// Installs the handlers, unless the program or its parent process installed others.
bool install_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGXCPU}) {
    struct sigaction known = {}, ours = {};
    sigaction(signal, nullptr, &known);
    if ((known.sa_flags & SA_SIGINFO) || known.sa_handler != SIG_DFL) continue;
    ours.sa_handler = on_stop;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
    sigaction(signal, &ours, nullptr);
  }
  return true;
}

}  // namespace

void tell_waits_with(bool (*name_wait)(char* text, std::size_t size)) { name_of_wait = name_wait; }

WatchedGrid::WatchedGrid(const char* kernel, const char* file, int line) {
  [[maybe_unused]] static const bool installed = install_handlers();
  Progress& now = grid_progress;
  if (now.kernel) outer_ = std::make_unique<Progress>(now);
  now.kernel = nullptr;
  now.file = file;
  now.line = line;
  now.units = now.blocks_per_unit = 0;
  for (Progress::Count& count : now.by_worker) count.ended = 0;
  now.kernel = kernel;
}

void WatchedGrid::consists_of(std::uint64_t units, std::uint64_t blocks_per_unit) {
  grid_progress.units = units;
  grid_progress.blocks_per_unit = blocks_per_unit;
}

WatchedGrid::~WatchedGrid() {
  Progress& now = grid_progress;
  now.kernel = nullptr;
  ++now.launches;
  if (!outer_) return;
  now.file = outer_->file;
  now.line = outer_->line;
  now.units = outer_->units;
  now.blocks_per_unit = outer_->blocks_per_unit;
  for (std::size_t i = 0; i < now.by_worker.size(); ++i)
    now.by_worker[i].ended = outer_->by_worker[i].ended;
  now.kernel = outer_->kernel;
}

}  // namespace hostcuda
