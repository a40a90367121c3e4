// The energy error of a run on the way. The sum over all pairs in float64 costs as much as many
// time steps, so it is done on a thread of its own, now and then.
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
  // `report` is called on the watch's thread.
  EnergyWatch(double softening, std::function<void(const Status::Energy&)> report);
  ~EnergyWatch();

  // The first state offered is the one that errors are relative to.
  bool wants_one() const;
  void offer(const Snapshot& snapshot);  // synchronised

 private:
  void work();
  void measure(const Snapshot& snapshot);

  double softening_;
  std::function<void(const Status::Energy&)> report_;
  std::optional<double> start_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Snapshot> waiting_;
  bool idle_ = true, over_ = false;
  std::thread thread_;
};

}  // namespace nbody::view
