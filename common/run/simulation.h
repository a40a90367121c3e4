// Divides a run into several calls of simulate(), a few time steps each, so that a step need not
// know about snapshots, checkpoints and progress. The result has the same bits as the result of one
// call: if a tree is kept for K time steps, all calls except the last end at multiples of K. Only
// the calls of a StepScheduler may end elsewhere.
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
  // If the integrator is leapfrog, takes the first half drift. job.run.devices must be set.
  // job.float64, not `simulate`, advances a float64 state. The caller passes job.start as `start`,
  // and may move it.
  Simulation(const Job& job, Snapshot start, Simulate simulate);

  // Takes up to `steps` more time steps in one call of simulate.
  void advance(int steps);
  // Sets dt and the softening for all later steps. The synchronised positions and velocities do not
  // change.
  void change(double dt, double softening);

  long long step() const { return state_.step; }
  long long last_step() const { return last_step_; }
  bool finished() const { return state_.step >= last_step_; }
  const Timing& timing() const { return timing_; }  // summed over all calls
  // Frees the spans, which accumulate over all calls; a live view makes thousands of calls.
  void forget_spans() { timing_.spans.clear(); }

  // The state as a checkpoint stores it: under leapfrog, positions are half a step ahead of
  // velocities. A recorder may add data for a checkpoint.
  Snapshot& checkpoint() { return state_; }
  Snapshot release() && { return std::move(state_); }
  // Returns the state with positions and velocities at the same instant.
  Snapshot snapshot() const;
  // Calls `use` with the state that snapshot() would return. Does not copy the state, because there
  // may be no memory for a second large state.
  void show(const std::function<void(const Snapshot&)>& use) { show_synchronised(state_, use); }

 private:
  Snapshot state_;
  std::unique_ptr<void, void (*)(void*)> locked_;  // keeps the pages of the bodies locked
  int last_step_;
  Run run_;
  Simulate simulate_;
  SimulateF64 float64_;
  Timing timing_;
};

// Returns the parameters for `steps` time steps from `state` in float64.
RunF64 run_float64(const Snapshot& state, int steps);

// Times one call of simulate with the wall clock.
Timing timed(Simulate simulate, const Run& run, Systems& systems);

// Records states during the run: after every K-th time step and after the last step, even if the
// run ends early. The recorded snapshots are synchronised.
struct Recorder {
  int every = 0;          // K; 0: only after the last step
  bool at_start = false;  // also records the first state
  std::function<void(const Snapshot&)> record;
  std::function<void()> finish = [] {};  // called after the last record
  // Adds data to a checkpoint: the data that this recorder will need in a resumed run.
  std::function<void(Snapshot&)> save = [](Snapshot&) {};
};

// Returns the recorders that the options request: snapshots, diagnostics, an activity map.
std::vector<Recorder> recorders(const Job& job, const Options& options);

// Decides how many steps each call takes and when the call begins.
class StepScheduler {
 public:
  virtual ~StepScheduler() = default;
  // Called before every call of simulate and after the last call; may block. Returns the largest
  // number of time steps that the next call may take; 0 ends the run here.
  virtual int next_piece(Simulation& simulation) = 0;
};

// The part of a run that one call of simulate() computed: the states before and after, as the
// kernels store them.
struct Chunk {
  Snapshot start, end;
  double seconds = 0;
};

// Keeps the states before and after one simulate() call of a long run, so that the validator can
// repeat this call if repeating the whole run would take too long. The call is drawn at random,
// so that every time step of the run is in this call with the same probability.
class ChunkKeeper {
 public:
  // Runs of up to `steps_at_once` steps are not divided into several calls.
  ChunkKeeper(int steps_at_once, unsigned seed) : steps_at_once_(steps_at_once), random_(seed) {}
  int steps_at_once() const { return steps_at_once_; }

  void before(const Snapshot& state, int steps);
  void after(const Snapshot& state, double seconds);
  // Empty if the run was one call, or if every call took too long to be repeated.
  const std::optional<Chunk>& chunk() const { return chunk_; }

  static constexpr double kSeconds = 3;  // limit on a call's time

 private:
  int steps_at_once_;
  std::mt19937 random_;
  long long steps_ = 0;
  std::optional<Snapshot> start_;  // start of the current call, if it is to be kept
  std::optional<Chunk> chunk_;
};

// Runs to the end, or until the scheduler ends the run; meanwhile records states and writes
// checkpoints. Shows progress if there is no scheduler. If there is a keeper, divides a long run
// into several calls.
void run_to_end(Simulation& simulation, const Options& options,
                const std::vector<Recorder>& recorders, StepScheduler* scheduler = nullptr,
                ChunkKeeper* keeper = nullptr);

}  // namespace nbody
