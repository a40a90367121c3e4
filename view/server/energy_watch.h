// The energy error of a run in progress. The sum over all pairs in float64 costs as much as many
// time steps, so a thread of its own computes it from time to time.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "io/snapshot_file.h"
#include "messages.h"

namespace nbody::view {

class EnergyWatch {
 public:
  // `report` is called on the thread of the watch.
  EnergyWatch(double softening, std::function<void(const Status::Energy&)> report);
  ~EnergyWatch();

  // Is it ready for another state?
  bool is_idle() const;
  // Errors are relative to the first state offered. Positions and velocities are synchronised.
  void offer(const Snapshot& snapshot);

 private:
  void work();
  void measure(const Snapshot& snapshot);

  double softening_;
  std::function<void(const Status::Energy&)> report_;
  std::optional<double> start_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Snapshot> waiting_;
  bool idle_ = true, ended_ = false;
  std::thread thread_;
};

}  // namespace nbody::view
