#include "energy_watch.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "nbody/stopwatch.h"
#include "physics/diagnostics.h"

namespace nbody::view {
namespace {

// After each sum the watch rests for twenty times as long, and at least this long: while it
// computes, the run has one core less.
constexpr double kMinRest = 2;  // seconds

}  // namespace

EnergyWatch::EnergyWatch(double softening, std::function<void(const Status::Energy&)> report)
    : softening_(softening), report_(std::move(report)), thread_([this] { work(); }) {}

EnergyWatch::~EnergyWatch() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool EnergyWatch::is_idle() const {
  const std::lock_guard lock(mutex_);
  return idle_;
}

void EnergyWatch::offer(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  waiting_ = snapshot;
  idle_ = false;
  changed_.notify_all();
}

void EnergyWatch::work() {
  // Of the OpenMP teams that this thread makes: most cores are left to the run.
  omp_set_num_threads(std::max(1, omp_get_num_procs() / 4));
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ended_ || waiting_; });
    if (ended_) return;
    const Snapshot snapshot = std::move(*waiting_);
    waiting_.reset();
    lock.unlock();
    const Stopwatch stopwatch;
    measure(snapshot);
    const std::chrono::duration<double> rest(std::max(kMinRest, 20 * stopwatch.seconds()));
    lock.lock();
    changed_.wait_for(lock, rest, [&] { return ended_ || waiting_; });
    idle_ = !waiting_;
  }
}

void EnergyWatch::measure(const Snapshot& snapshot) {
  const Diagnostics now = diagnose(snapshot.systems, softening_);
  if (!start_) start_ = now.energy();
  const double scale = std::abs(*start_);
  report_({(now.energy() - *start_) / scale, snapshot.time, now.potential_error / scale});
}

}  // namespace nbody::view
