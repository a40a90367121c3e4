#include "run_control.h"

#include <algorithm>
#include <utility>

namespace nbody::view {

void RunControl::handle(const Command& command) {
  const std::lock_guard lock(mutex_);
  switch (command.type) {
    case Command::Type::next:
    case Command::Type::stair:
      break;
    case Command::Type::pause:
      paused_ = true;
      single_ = false;
      steps_due_ = 0;
      break;
    case Command::Type::resume:
      paused_ = false;
      break;
    case Command::Type::step:
      single_ = paused_;
      break;
    case Command::Type::speed:
      steps_per_frame_ = command.steps_per_frame;
      break;
    case Command::Type::forces:
      forces_ = command;
      break;
  }
  changed_.notify_all();
}

void RunControl::set_viewers(int count) {
  const std::lock_guard lock(mutex_);
  viewed_ = viewed_ || count > 0;
  changed_.notify_all();
}

void RunControl::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void RunControl::wait_until(std::chrono::steady_clock::time_point time) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, time, [&] { return stopped_; });
}

int RunControl::wait_for_turn(int fitting) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return stopped_ || forces_ || (viewed_ && (!paused_ || single_ || steps_due_ > 0));
  });
  if (stopped_) return 0;
  if (forces_) return kForcesAsked;
  const int wanted = steps_per_frame_ == 0 ? fitting : steps_per_frame_;
  if (!paused_) return std::min(fitting, wanted);
  if (std::exchange(single_, false)) steps_due_ = wanted;
  const int steps = std::min(fitting, steps_due_);
  steps_due_ -= steps;
  return steps;
}

Command RunControl::take_forces() {
  const std::lock_guard lock(mutex_);
  return *std::exchange(forces_, std::nullopt);
}

void RunControl::wait_for_stop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_; });
}

}  // namespace nbody::view
