// kill -9 at any moment must leave only whole files. If the same command or --resume continues the
// run, the run must end with the same bits as an undisturbed one.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

#include "faults.h"

namespace nbody::test {
namespace {

constexpr int kKilled = 128 + 9;
constexpr int kTimeUp = 124;  // exit code of `timeout` if a run ends just before the kill

int number(const char* variable, int otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

class Kill : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!has_device(Program())) GTEST_SKIP() << "no device";
  }
};
INSTANTIATE_TEST_SUITE_P(Integrators, Kill, testing::Values("euler", "leapfrog"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(Kill, InEveryFileOperation) {
  const FaultyRun run(GetParam(), 5);
  const int first_turn = GetParam() == std::string("euler") ? 0 : 1;
  int left_overs = 0;
  for (int operation = 1;; ++operation) {
    SCOPED_TRACE("killed in operation " + std::to_string(operation));
    ASSERT_LT(operation, 10000) << "the run never ends";
    const Program program;
    run.prepare(program);
    const Outcome killed =
        program.run(run.start(), disk_fault("kill:" + std::to_string(operation)));
    if (killed.exit_code == 0) {
      EXPECT_GT(operation, 4 * run.steps()) << "too few: the library was not loaded";
      break;
    }
    ASSERT_EQ(killed.exit_code, kKilled) << killed.error;
    left_overs += run.check_files(program);
    const Outcome resumed = program.run(run.next(program, first_turn + operation));
    EXPECT_EQ(resumed.exit_code, 0) << resumed.error;
    run.check_finished(program);
    if (HasFailure()) return;
  }
  EXPECT_GT(left_overs, 0) << "no kill hit a file that was being written";
}

// Kills the program NBODY_KILLS times, at random moments that the seed NBODY_SEED determines.
// Several kills may hit the same run.
TEST_P(Kill, AtAnyMoment) {
  const FaultyRun run(GetParam(), 60);  // long, so that most kills hit the run and not its start
  const int kills = number("NBODY_KILLS", 10);
  const int seed = number("NBODY_SEED", static_cast<int>(std::random_device()() >> 1));
  std::cout << "NBODY_SEED=" << seed << " NBODY_KILLS=" << kills << '\n';
  std::mt19937 random(static_cast<unsigned>(seed));

  const Program undisturbed;
  run.prepare(undisturbed);
  const auto begin = std::chrono::steady_clock::now();
  undisturbed.run(run.start());
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  std::uniform_real_distribution<double> moment(0.001, whole.count());

  for (int killed = 0; killed < kills;) {
    const Program program;
    run.prepare(program);
    for (bool finished = false; !finished && !HasFailure();) {
      // After the last kill, the run may finish.
      const std::string killer =
          killed < kills ? "timeout --foreground -s KILL " + std::to_string(moment(random)) : "";
      const Outcome outcome = program.run(run.next(program, killed), killer);
      finished = outcome.exit_code == 0;
      killed += outcome.exit_code == kKilled;
      EXPECT_TRUE(finished || outcome.exit_code == kKilled || outcome.exit_code == kTimeUp)
          << outcome.exit_code << outcome.error;
      run.check_files(program);
    }
    run.check_finished(program);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace nbody::test
