#include "run_control.h"

namespace nbody::view {

void RunControl::obey(const Command& command) {
  const std::lock_guard lock(mutex_);
  switch (command.type) {
    case Command::Type::next:
      break;
    case Command::Type::pause:
      paused_ = true;
      single_ = false;
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
  }
  changed_.notify_all();
}

void RunControl::viewers(int count) {
  const std::lock_guard lock(mutex_);
  seen_ = seen_ || count > 0;
  changed_.notify_all();
}

void RunControl::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

bool RunControl::paused() const {
  const std::lock_guard lock(mutex_);
  return paused_;
}

bool RunControl::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

int RunControl::steps_per_frame() const {
  const std::lock_guard lock(mutex_);
  return steps_per_frame_;
}

void RunControl::wait_until(std::chrono::steady_clock::time_point time) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, time, [&] { return stopped_; });
}

bool RunControl::wait_for_turn() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_ || (seen_ && (!paused_ || single_)); });
  single_ = false;
  return !stopped_;
}

void RunControl::wait_for_stop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stopped_; });
}

}  // namespace nbody::view
