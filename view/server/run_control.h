// When the next time steps may be taken, and how many: what viewers asked for, kept for the thread
// that computes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "messages.h"

namespace nbody::view {

class RunControl {
 public:
  explicit RunControl(int steps_per_frame) : steps_per_frame_(steps_per_frame) {}

  void obey(const Command& command);
  void viewers(int count);
  void stop();

  bool paused() const;
  bool stopped() const;
  int steps_per_frame() const;

  // Or until the run is stopped.
  void wait_until(std::chrono::steady_clock::time_point time);
  // Returns once somebody has looked and the run is not paused, or it is stopped. How many steps
  // may be taken, of the `fitting` that can be before the next frame is due; 0: none any more.
  int wait_for_turn(int fitting);
  void wait_for_stop();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool seen_ = false;  // a viewer was there
  bool paused_ = false;
  bool single_ = false;  // one frame's steps although paused
  int steps_due_ = 0;    // of those, what is left: they may be more than fit
  bool stopped_ = false;
  int steps_per_frame_;
};

}  // namespace nbody::view
