#include <gtest/gtest.h>

#include "run/simulation.h"

namespace nbody {
namespace {

Timing stand_still(const Run&, Systems&) { return {}; }

class StopAfter : public StepScheduler {
 public:
  explicit StopAfter(int step) : step_(step) {}
  int next_piece(Simulation& simulation) override {
    return step_ - static_cast<int>(simulation.step());
  }

 private:
  int step_;
};

// Returns the steps at which a recorder recorded a state; -1 marks the call of finish().
std::vector<long long> recorded(int every, bool at_start, int stop) {
  Job job;
  job.start.systems = Systems(1, 1);
  job.last_step = 10;
  Simulation simulation(job, job.start, stand_still);
  std::vector<long long> seen;
  StopAfter scheduler(stop);
  run_to_end(simulation, Options(),
             {{every, at_start, [&](const Snapshot& snapshot) { seen.push_back(snapshot.step); },
               [&] { seen.push_back(-1); }}},
             &scheduler);
  return seen;
}

using Steps = std::vector<long long>;

TEST(Recorder, RecordsEveryKthStepAndAtTheEnd) {
  EXPECT_EQ(recorded(4, true, 10), (Steps{0, 4, 8, 10, -1}));
  EXPECT_EQ(recorded(5, false, 10), (Steps{5, 10, -1}));
  EXPECT_EQ(recorded(0, false, 10), (Steps{10, -1}));
}

TEST(Recorder, RecordsOnceTheStateInWhichARunIsCutShort) {
  EXPECT_EQ(recorded(4, true, 7), (Steps{0, 4, 7, -1}));
  EXPECT_EQ(recorded(4, true, 8), (Steps{0, 4, 8, -1}));
  EXPECT_EQ(recorded(0, false, 7), (Steps{7, -1}));
  EXPECT_EQ(recorded(4, true, 0), (Steps{0, -1}));
}

Timing drift_only(const Run& run, Systems& systems) {
  for (Body& body : systems.bodies) body.x += static_cast<float>(run.steps) * run.dt * body.vx;
  return {};
}

// Before dt changes, leapfrog's positions are ahead of the velocities by half an old step.
// Afterwards they must be ahead by half a new step.
TEST(Simulation, GoesOnFromTheSamePositionsWithAnotherTimeStep) {
  for (const auto integrator : {Integrator::euler, Integrator::leapfrog}) {
    Job job;
    job.start.systems = Systems(1, 1);
    job.start.systems.bodies[0].vx = 1;
    job.start.integrator = integrator;
    job.start.dt = 0.5;
    job.start.softening = 1;
    job.last_step = 10;
    take_forces(job.start, job.run);
    Simulation simulation(job, job.start, drift_only);
    simulation.advance(1);
    simulation.change(2, 0.25);
    EXPECT_EQ(simulation.snapshot().systems.bodies[0].x, 0.5F);
    simulation.advance(1);
    EXPECT_EQ(simulation.snapshot().systems.bodies[0].x, 2.5F);
    EXPECT_EQ(simulation.snapshot().time, 2.5);
    EXPECT_EQ(simulation.snapshot().softening, 0.25);
    EXPECT_EQ(simulation.checkpoint().systems.bodies[0].x,
              integrator == Integrator::leapfrog ? 3.5F : 2.5F);
  }
}

}  // namespace
}  // namespace nbody
