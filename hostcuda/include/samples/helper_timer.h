// hostcuda: the part of the CUDA samples' helper_timer.h that programs use (stopwatches in ms).
#pragma once

#include <chrono>

class StopWatchInterface {
 public:
  void start() {
    begin_ = Clock::now();
    runs_ = true;
  }
  void stop() {
    total_ += now();
    ++times_;
    runs_ = false;
  }
  void reset() {
    total_ = 0;
    times_ = 0;
    begin_ = Clock::now();
  }
  float getTime() { return static_cast<float>(runs_ ? total_ + now() : total_); }
  float getAverageTime() { return times_ ? static_cast<float>(total_ / times_) : 0.0f; }

 private:
  using Clock = std::chrono::steady_clock;
  double now() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
  }
  Clock::time_point begin_{};
  double total_ = 0;
  int times_ = 0;
  bool runs_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) { return (*timer)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { return (*timer)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { return (*timer)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
  return (*timer)->getAverageTime();
}
