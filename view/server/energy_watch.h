// Computes the energy error of a run in progress. The sum over all pairs in float64 takes as long
// as many time steps, so a separate thread computes it from time to time.
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
  // Calls `report` on its own thread.
  EnergyWatch(double softening, std::function<void(const Status::Energy&)> report);
  ~EnergyWatch();

  // True if the watch is ready for another state.
  bool is_idle() const;
  // Offers a synchronised state to the watch. Errors are relative to the first state that was
  // offered since the start, or since the last restart.
  void offer(const Snapshot& snapshot);
  // Starts anew with another softening. Energies with different softenings cannot be compared, so
  // earlier results are not reported.
  void restart(double softening);

 private:
  struct Start {
    double energy, time;
  };
  void work();

  double softening_;
  std::function<void(const Status::Energy&)> report_;
  std::optional<Start> start_;
  int restarts_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Snapshot> waiting_;
  bool idle_ = true, ended_ = false;
  std::thread thread_;
};

}  // namespace nbody::view
