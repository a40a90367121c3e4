#include "energy_watch.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "nbody/stopwatch.h"
#include "physics/diagnostics.h"

namespace nbody::view {
namespace {

// After each sum, the watch rests for twenty times as long as the sum took, and for at least
// kMinRest, because the sum takes a quarter of the cores (at least one core) away from the run.
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

void EnergyWatch::restart(double softening) {
  const std::lock_guard lock(mutex_);
  softening_ = softening;
  start_.reset();
  waiting_.reset();
  ++restarts_;
}

void EnergyWatch::work() {
  // Limits the OpenMP teams of this thread, so that most cores are left to the run.
  omp_set_num_threads(std::max(1, omp_get_num_procs() / 4));
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ended_ || waiting_; });
    if (ended_) return;
    const Snapshot snapshot = std::move(*waiting_);
    waiting_.reset();
    const double softening = softening_;
    const int restarts = restarts_;
    lock.unlock();
    const Stopwatch stopwatch;
    const Diagnostics now = diagnose(snapshot.systems, softening);
    const std::chrono::duration<double> rest(std::max(kMinRest, 20 * stopwatch.seconds()));
    lock.lock();
    if (restarts == restarts_) {
      if (!start_) start_ = Start{now.energy(), snapshot.time};
      const double scale = std::abs(start_->energy);
      report_({(now.energy() - start_->energy) / scale, start_->time, snapshot.time,
               now.potential_error / scale});
    }
    changed_.wait_for(lock, rest, [&] { return ended_ || waiting_; });
    idle_ = !waiting_;
  }
}

}  // namespace nbody::view
