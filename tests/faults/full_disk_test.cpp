// A disk may be full after any byte or fail in any operation. The program must print one line, exit
// with code 1, leave no partial file under a final name, and keep the checkpoint of the earlier
// run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "faults.h"

namespace nbody::test {
namespace {

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_device(Program())) GTEST_SKIP() << "no device";
  }

  // Runs with the fault. Returns true if the run succeeded because the fault came too late.
  bool run_into(const std::string& fault) {
    SCOPED_TRACE(fault);
    const Program program;
    run_.prepare(program);
    program.write("c.bin", "the checkpoint of an earlier run");
    const Outcome outcome =
        program.run(run_.start() + " --restart --json r.json", disk_fault(fault));
    auto files = files_of(program);
    if (files["c.bin"] == "the checkpoint of an earlier run")
      std::filesystem::remove(program.file("c.bin"));
    if (outcome.exit_code == 0) {
      EXPECT_EQ(files["r.json"].back(), '\n');
      std::filesystem::remove(program.file("r.json"));
      run_.check_finished(program);
      return true;
    }
    EXPECT_EQ(outcome.exit_code, 1) << outcome.error;
    EXPECT_NE(outcome.error.find("cannot write "), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("No space left on device"), std::string::npos) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_FALSE(files.contains("r.json")) << "the record is the last file to be written";
    EXPECT_EQ(run_.check_files(program), 0) << "temporary files are left";
    return false;
  }

  const FaultyRun run_{"leapfrog", 5};
};

TEST_F(FullDisk, AtEveryOperation) {
  // A run also succeeds if only the flush of a directory fails, so the loop ends only after three
  // successes in a row.
  int operation = 1;
  for (int ended_well = 0; ended_well < 3 && !HasFailure(); ++operation)
    ended_well = run_into("fail:" + std::to_string(operation)) ? ended_well + 1 : 0;
  EXPECT_GT(operation, 4 * run_.steps()) << "too few: the library was not loaded";
}

// In each run, the disk has room for 97 bytes more than in the run before. 97 is prime, so that
// files of 228 bytes are cut at many different places.
TEST_F(FullDisk, AtEveryByte) {
  int bytes = 0;
  while (!run_into("bytes:" + std::to_string(bytes)) && !HasFailure()) bytes += 97;
  EXPECT_GT(bytes, 2 * 228 * run_.steps()) << "too few: the library was not loaded";
}

TEST_F(FullDisk, OfStandardOutputIsNotMissed) {
  const Program program;
  const Outcome outcome =
      program.run("--scenario two-body --steps 1", R"(sh -c '"$0" "$@" >/dev/full')");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.error.find("cannot write to standard output"), std::string::npos);
}

}  // namespace
}  // namespace nbody::test
