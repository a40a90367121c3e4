#include "run/simulation.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "nbody/error.h"
#include "nbody/stopwatch.h"
#include "physics/reference.h"
#include "run/program.h"

namespace nbody {
namespace {

// Locks the pages of the bodies in memory; returns null if the pages cannot be locked.
std::unique_ptr<void, void (*)(void*)> locked(const Platform& platform, std::vector<Body>& bodies) {
  const bool done = platform.lock_pages != nullptr &&
                    platform.lock_pages(bodies.data(), bodies.size() * sizeof(Body));
  return {done ? bodies.data() : nullptr, platform.unlock_pages};
}

Timing advance_float64(SimulateF64 simulate, Snapshot& state, int steps) {
  Timing timing;
  change_float64(state, [&](SystemsF64& systems) {
    const Stopwatch stopwatch;
    timing = simulate(run_float64(state, steps), systems);
    timing.total = stopwatch.seconds();
  });
  return timing;
}

}  // namespace

Timing simulate_float64(const RunF64& run, SystemsF64& systems) {
  const Stopwatch stopwatch;
  nbody::advance(systems, run.dt, run.steps, run.softening_squared);
  return {.compute = stopwatch.seconds()};
}

RunF64 run_float64(const Snapshot& state, int steps) {
  return {state.dt, steps, state.softening * state.softening, 1};
}

Timing timed(Simulate simulate, const Run& run, Systems& systems) {
  const Stopwatch stopwatch;
  Timing timing = simulate(run, systems);
  timing.total = stopwatch.seconds();
  return timing;
}

Simulation::Simulation(const Job& job, Snapshot start, Simulate simulate)
    : state_(std::move(start)),
      locked_(locked(job.platform, state_.systems.bodies)),
      last_step_(job.last_step),
      run_(job.run),
      simulate_(simulate),
      float64_(job.float64) {
  const bool moves = state_.step < last_step_;  // no bit of a finished run may change
  if (state_.integrator == Integrator::leapfrog && !state_.staggered && moves)
    take_half_drift(state_, 1);
}

void Simulation::advance(int steps) {
  run_.steps = static_cast<int>(std::min<long long>(steps, last_step_ - state_.step));
  const bool float64 = is_float64(state_);
  const Timing timing = float64 ? advance_float64(float64_, state_, run_.steps)
                                : timed(simulate_, run_, state_.systems);
  for (const auto part : {&Timing::upload, &Timing::compute, &Timing::download, &Timing::total}) {
    timing_.*part += timing.*part;
  }
  timing_.sources = timing.sources;
  timing_.spans.insert(timing_.spans.end(), timing.spans.begin(), timing.spans.end());
  state_.step += run_.steps;
  const double dt = float64 ? state_.dt : static_cast<double>(run_.dt);
  // Adds dt once per step, so that rounding does not depend on how the run is divided into calls.
  for (int k = 0; k < run_.steps; ++k) state_.time += dt;
}

void Simulation::change(double dt, double softening) {
  const bool staggered = state_.staggered;
  if (staggered) take_half_drift(state_, -1);
  state_.dt = dt;
  state_.softening = softening;
  take_forces(state_, run_);
  if (staggered) take_half_drift(state_, 1);
}

Snapshot Simulation::snapshot() const { return synchronised(state_); }

void ChunkKeeper::before(const Snapshot& state, int steps) {
  steps_ += steps;
  start_.reset();
  if (std::uniform_int_distribution<long long>(1, steps_)(random_) <= steps) start_ = state;
}

void ChunkKeeper::after(const Snapshot& state, double seconds) {
  if (start_ && seconds <= 2 * kSeconds) chunk_ = {std::move(*start_), state, seconds};
}

namespace {

bool is_multiple(long long step, int every) { return every > 0 && step % every == 0; }

// Returns `steps`, or more or fewer, so that a call that begins at step `begin` ends at a multiple
// of --rebuild-every. A call begins with a new tree, so if calls ended elsewhere, the bits of the
// result would depend on how many time steps the machine takes in a second.
int whole_trees(long long begin, int steps, const Options& options) {
  const long long every =
      options.approximation ? options.approximation->rebuild_every.value_or(1) : 1;
  const long long whole =
      begin % every != 0 ? every - begin % every : (steps + every - 1) / every * every;
  return static_cast<int>(std::min<long long>(whole, std::numeric_limits<int>::max()));
}

// Calls the recorders that `wanted` selects.
void record(const std::vector<Recorder>& recorders, Simulation& simulation,
            const std::function<bool(const Recorder&)>& wanted) {
  if (std::none_of(recorders.begin(), recorders.end(), wanted)) return;
  simulation.show([&](const Snapshot& snapshot) {
    for (const Recorder& recorder : recorders)
      if (wanted(recorder)) recorder.record(snapshot);
  });
}

// Chooses the number of time steps per call if no option determines it: estimates, from the time of
// the last call, how many steps fit into a few seconds.
class Pace {
 public:
  Pace(int first, double seconds) : steps_(first), seconds_(seconds) {}
  int next() const { return steps_; }
  void took(int steps, double seconds) {
    const double fit = steps / std::max(seconds, 1e-6) * seconds_;
    steps_ = std::max(1, static_cast<int>(std::min(fit, 1e9)));
  }

 private:
  int steps_;
  double seconds_;
};

class Progress {
 public:
  explicit Progress(bool shown) : shown_(shown) {}
  ~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void show(long long taken, long long of, double interactions_per_step) const {
    if (!shown_ || taken == 0) return;
    const double rate = static_cast<double>(taken) / stopwatch_.seconds();
    std::fprintf(stderr, "\r\033[K%lld of %lld steps, %.3g G interactions/s, %.0f s left", taken,
                 of, rate * interactions_per_step * 1e-9, static_cast<double>(of - taken) / rate);
  }

 private:
  bool shown_;
  Stopwatch stopwatch_;
};

}  // namespace

void run_to_end(Simulation& simulation, const Options& options,
                const std::vector<Recorder>& recorders, StepScheduler* scheduler,
                ChunkKeeper* keeper) {
  const bool timing_run = options.repeat > 1 || options.warmup > 0;
  const bool terminal =
      isatty(STDERR_FILENO) == 1 && !options.quiet && !timing_run && scheduler == nullptr;
  const bool progresses = terminal || !options.checkpoint.empty();
  const bool in_pieces = progresses || keeper != nullptr;
  const Snapshot& state = simulation.checkpoint();
  const long long start = state.step;
  const double interactions_per_step =
      static_cast<double>(state.systems.bodies.size()) * state.systems.bodies_per_system;
  const Progress progress(terminal);
  Pace pace = progresses || keeper == nullptr ? Pace(1, 1)
                                              : Pace(keeper->steps_at_once(), keeper->kSeconds);
  Stopwatch since_checkpoint;

  const auto write_checkpoint = [&] {
    for (const Recorder& recorder : recorders) recorder.save(simulation.checkpoint());
    write_bodies(options.checkpoint, state);
  };
  // If a run that writes checkpoints is interrupted, it writes a checkpoint before it ends. Other
  // runs end at once, unless they have a live view, which handles interruptions itself.
  std::optional<Interruption> interruption;
  if (!options.checkpoint.empty() && scheduler == nullptr) interruption.emplace();

  // Writes a checkpoint at the start, so that a killed run can always resume and continue its
  // outputs.
  if (!options.checkpoint.empty()) write_checkpoint();
  record(recorders, simulation, [](const Recorder& recorder) { return recorder.at_start; });
  const auto next_piece = [&] {
    if (scheduler != nullptr) return scheduler->next_piece(simulation);
    return whole_trees(state.step, in_pieces ? pace.next() : std::numeric_limits<int>::max(),
                       options);
  };
  for (int steps = next_piece(); steps > 0 && !simulation.finished(); steps = next_piece()) {
    const long long before = simulation.step();
    for (const Recorder& recorder : recorders) {
      if (recorder.every == 0) continue;
      const auto until_record = recorder.every - before % recorder.every;
      steps = static_cast<int>(std::min<long long>(steps, until_record));
    }
    steps = static_cast<int>(std::min<long long>(steps, simulation.last_step() - before));
    if (keeper != nullptr) keeper->before(state, steps);
    const Stopwatch stopwatch;
    simulation.advance(steps);
    if (keeper != nullptr) keeper->after(state, stopwatch.seconds());
    if (options.timeline.empty()) simulation.forget_spans();
    pace.took(static_cast<int>(simulation.step() - before), stopwatch.seconds());
    progress.show(simulation.step() - start, simulation.last_step() - start, interactions_per_step);

    // Before the checkpoint is written, calls the recorders that are due at this step, because a
    // resumed run does not record this state again. A state that is recorded only because the run
    // ends is recorded after the checkpoint is written, because a longer run would not record it.
    record(recorders, simulation, [&](const Recorder& recorder) {
      return is_multiple(simulation.step(), recorder.every);
    });
    const bool due = is_multiple(simulation.step(), options.snapshot_every) ||
                     simulation.finished() || since_checkpoint.seconds() > 5;
    if (!options.checkpoint.empty() && due) {
      write_checkpoint();
      since_checkpoint = Stopwatch();
    }
    if (interruption && interruption->signal() != 0 && !simulation.finished()) {
      write_checkpoint();
      throw Interrupted(
          interruption->signal(),
          joined("interrupted after ", simulation.step(), " steps; the same command continues",
                 options.restart ? " without --restart" : "", ", or --resume ", options.checkpoint,
                 " --steps ", simulation.last_step()));
    }
  }
  if (!options.checkpoint.empty() && !simulation.finished()) write_checkpoint();
  record(recorders, simulation, [&](const Recorder& recorder) {
    return !is_multiple(simulation.step(), recorder.every) &&
           !(recorder.at_start && simulation.step() == start);
  });
  for (const Recorder& recorder : recorders) recorder.finish();
}

}  // namespace nbody
