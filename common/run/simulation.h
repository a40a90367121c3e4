// A run in pieces: simulate() is called for a few time steps at a time, so that snapshots,
// checkpoints and progress ask nothing of a step. The pieces do not change a bit of the result.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "run/job.h"

namespace nbody {

class Simulation {
 public:
  // For leapfrog, takes the first half drift. run.devices must be set in job.run. A state in
  // float64 is advanced in float64, by job.float64. `start` is job.start, or what was moved from
  // it.
  Simulation(const Job& job, Snapshot start, Simulate simulate);

  // Takes up to `steps` more time steps in one call of simulate.
  void advance(int steps);
  // From here on. Positions and velocities at the same time remain what they are.
  void change(double dt, double softening);

  long long step() const { return state_.step; }
  long long last_step() const { return last_step_; }
  bool finished() const { return state_.step >= last_step_; }
  const Timing& timing() const { return timing_; }  // the sum over all pieces
  // Spans accumulate over all calls; a live view makes thousands.
  void forget_spans() { timing_.spans.clear(); }

  // The state as it is: staggered under leapfrog. A recorder may add what a checkpoint needs.
  Snapshot& checkpoint() { return state_; }
  Snapshot release() && { return std::move(state_); }
  // The state with positions and velocities at the same time.
  Snapshot snapshot() const;
  // The same without a copy, which a large state has no room for: only while `use` runs.
  void show(const std::function<void(const Snapshot&)>& use) { show_synchronised(state_, use); }

 private:
  Snapshot state_;
  std::unique_ptr<void, void (*)(void*)> locked_;  // the pages of its bodies, until it goes
  int last_step_;
  Run run_;
  Simulate simulate_;
  SimulateF64 float64_;
  Timing timing_;
};

// The run of a state in float64.
RunF64 run_float64(const Snapshot& state, int steps);

// One call of simulate, with the wall clock around it.
Timing timed(Simulate simulate, const Run& run, Systems& systems);

// Records the state on the way: after every K-th time step of the run and after its last, also
// when the run is cut short. The snapshot is synchronised.
struct Recorder {
  int every = 0;          // K; 0: only after the last
  bool at_start = false;  // also before the first
  std::function<void(const Snapshot&)> record;
  std::function<void()> finish = [] {};  // after the last record
  // Adds to a checkpoint what the recorder of a resumed run needs.
  std::function<void(Snapshot&)> save = [](Snapshot&) {};
};

// Those that the options ask for: snapshots, diagnostics, an activity map.
std::vector<Recorder> recorders(const Job& job, const Options& options);

// Decides how long the pieces are and when they begin.
class StepScheduler {
 public:
  virtual ~StepScheduler() = default;
  // Called before the first piece and after every one; may block. Returns the greatest number of
  // steps that the next piece may have; 0 ends the run here.
  virtual int next_piece(Simulation& simulation) = 0;
};

// A part of a run, as one call of simulate() took it: the states before and after, as kernels have
// them.
struct Chunk {
  Snapshot start, end;
  double seconds = 0;
};

// Keeps one call of a run that is taken in several, so that it can be repeated when repeating the
// run would take too long. Every time step of the run is as likely to be in it as any other.
class ChunkKeeper {
 public:
  // A run of up to `steps_at_once` steps stays one call, and so is nothing that is measured.
  ChunkKeeper(int steps_at_once, unsigned seed) : steps_at_once_(steps_at_once), random_(seed) {}
  int steps_at_once() const { return steps_at_once_; }

  void before(const Snapshot& state, int steps);
  void after(const Snapshot& state, double seconds);
  // Nothing of a run that was one call, or whose calls took too long to repeat one of them.
  const std::optional<Chunk>& chunk() const { return chunk_; }

  static constexpr double kSeconds = 3;  // that a call may take

 private:
  int steps_at_once_;
  std::mt19937 random_;
  long long steps_ = 0;
  std::optional<Snapshot> start_;  // of the call that is running, if it is to be kept
  std::optional<Chunk> chunk_;
};

// Runs to the end, or until the scheduler ends the run, and on the way records the state and writes
// checkpoints. Without a scheduler it shows progress. With a keeper, a long run is taken in several
// calls.
void run_to_end(Simulation& simulation, const Options& options,
                const std::vector<Recorder>& recorders, StepScheduler* scheduler = nullptr,
                ChunkKeeper* keeper = nullptr);

}  // namespace nbody
