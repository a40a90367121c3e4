// Measures, with events, when the stages of a step (upload, compute, download) began and ended.
#pragma once

#include <array>
#include <vector>

#include "nbody/cuda.h"
#include "nbody/step.h"
#include "nbody/stopwatch.h"

namespace nbody {

// Times consecutive stages in the default stream. Construct it before the first stage.
class StageTimer {
 public:
  StageTimer() { start_.record(); }
  void uploaded() { uploaded_.record(); }
  void computed() { computed_.record(); }
  void downloaded() { downloaded_.record(); }
  Timing timing(int sources = 0) const {
    return {.upload = seconds_between(start_, uploaded_),
            .compute = seconds_between(uploaded_, computed_),
            .download = seconds_between(computed_, downloaded_),
            .sources = sources};
  }

 private:
  Event start_, uploaded_, computed_, downloaded_;
};

// Times stages that overlap: one span per stage and system. Each device has its own timeline,
// which is constructed while that device is current.
class Timeline {
 public:
  explicit Timeline(int systems, int device = 0)
      : device_(device), systems_(static_cast<std::size_t>(systems)) {
    // Events of different devices cannot be compared, so all timelines use the host's clock.
    origin_.record();
    origin_.wait();
    origin_seconds_ = steady_seconds();
  }

  // Each function records an event in the stream, after all work that the stream already has.
  void start(int system, cudaStream_t stream) { mark(system, 0, stream); }
  void uploaded(int system, cudaStream_t stream) { mark(system, 1, stream); }
  void computed(int system, cudaStream_t stream) { mark(system, 2, stream); }
  void downloaded(int system, cudaStream_t stream) { mark(system, 3, stream); }

  // Waits for all recorded events. `first_system` is the index of this timeline's system 0 in the
  // whole run.
  std::vector<Span> spans(int first_system = 0) const {
    std::vector<Span> spans;
    for (std::size_t s = 0; s < systems_.size(); ++s) {
      for (std::size_t stage = 0; stage < 3; ++stage) {
        const auto& marks = systems_[s].marks;
        spans.push_back({device_, systems_[s].stream, first_system + static_cast<int>(s),
                         static_cast<Stage>(stage), at(marks[stage]), at(marks[stage + 1])});
      }
    }
    return spans;
  }

 private:
  struct System {
    int stream = 0;
    std::array<Event, 4> marks;
  };
  void mark(int system, std::size_t mark, cudaStream_t stream) {
    System& entry = systems_[static_cast<std::size_t>(system)];
    entry.stream = index_of(stream);
    entry.marks[mark].record(stream);
  }
  // Streams are numbered in the order in which they were first used.
  int index_of(cudaStream_t stream) {
    std::size_t k = 0;
    while (k < streams_.size() && streams_[k] != stream) ++k;
    if (k == streams_.size()) streams_.push_back(stream);
    return static_cast<int>(k);
  }
  double at(const Event& event) const { return origin_seconds_ + seconds_between(origin_, event); }

  int device_;
  Event origin_;
  double origin_seconds_ = 0;
  std::vector<System> systems_;
  std::vector<cudaStream_t> streams_;
};

}  // namespace nbody
