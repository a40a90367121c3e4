// The interface between libnbody's functions and its kernels. Private to the library.
#pragma once

#include <omp.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "call.h"

namespace nbody::library {

constexpr int kBlock = 32;  // targets of one unit of work

// Points as columns, padded to a multiple of kBlock with massless copies of the last point.
template <class Real>
struct Points {
  int n = 0;
  std::vector<Real> x = {}, y = {}, z = {}, mass = {}, vx = {}, vy = {}, vz = {};
};

// Asks the caller whether to stop. Only the thread that called the library asks.
class Stop {
 public:
  explicit Stop(const nbody_options& options) : options_(options) {}
  bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // All threads of a team call this often.
  bool poll() {
    if (options_.interrupted != nullptr && omp_get_thread_num() == 0) {
      const auto now = std::chrono::steady_clock::now();
      if (now - last_ > std::chrono::milliseconds(20)) {
        last_ = now;
        if (options_.interrupted(options_.argument) != 0) stopped_ = true;
      }
    }
    return is_stopped();
  }

 private:
  const nbody_options& options_;
  std::atomic<bool> stopped_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The arguments of a sum, in units in which coordinates, masses and velocities are at most about 1.
template <class Real>
struct Task {
  Quantity quantity;
  const Points<Real>& sources;
  const Points<Real>& targets;  // may be the sources
  Real softening_squared;
  Stop& stop;
  bool is_own() const { return &sources == &targets; }
};

// Unless stopped, both functions set `out`, which has width(quantity) numbers per target. A task
// has at least one source and one target.
template <class Real>
void sum_directly(const Task<Real>& task, double* out);
void sum_by_tree(const Task<float>& task, const nbody_options& options, double* out);

}  // namespace nbody::library
