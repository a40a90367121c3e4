#include <gtest/gtest.h>

#include "run/simulation.h"

namespace nbody {
namespace {

Timing stand_still(const Run&, Systems&) { return {}; }

class StopAfter : public StepScheduler {
 public:
  explicit StopAfter(int step) : step_(step) {}
  int next_piece(const Simulation& simulation) override {
    return step_ - static_cast<int>(simulation.step());
  }

 private:
  int step_;
};

// The steps at which a recorder recorded; -1: it finished.
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

}  // namespace
}  // namespace nbody
