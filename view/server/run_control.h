// Follows the commands of viewers: tells the computing thread when it may take the next time steps,
// and how many.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "messages.h"

namespace nbody::view {

class RunControl {
 public:
  explicit RunControl(int steps_per_frame) : steps_per_frame_(steps_per_frame) {}

  void handle(const Command& command);
  void set_viewers(int count);
  void stop();

  bool paused() const { return read(paused_); }
  bool stopped() const { return read(stopped_); }
  int steps_per_frame() const { return read(steps_per_frame_); }

  // Waits until this time, or until the run is stopped.
  void wait_until(std::chrono::steady_clock::time_point time);
  // Waits until a viewer has connected for the first time, and while the run is paused. Returns how
  // many steps may be taken. This is at most `fitting`, the number of steps that can be computed
  // before the next frame is due. It is 0 if the run is stopped. If it is kForcesAsked, the caller
  // must first apply the new forces that take_forces() returns.
  static constexpr int kForcesAsked = -1;
  int wait_for_turn(int fitting);
  Command take_forces();
  void wait_for_stop();

 private:
  template <class Value>
  Value read(const Value& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool viewed_ = false;  // there has been a viewer
  bool paused_ = false;
  bool single_ = false;  // take the steps of one frame while paused
  int steps_due_ = 0;    // steps still to take while paused, at most `fitting` per call
  std::optional<Command> forces_;
  bool stopped_ = false;
  int steps_per_frame_;
};

}  // namespace nbody::view
