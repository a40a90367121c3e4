// A device may fail or be lost in any call, have too little memory, or be missing. The program must
// then print one line with the call and the error, exit with code 1 without hanging or
// crashing, and write nothing. If the failed call did not matter (a free at the end), the result
// must be exact.
#include <gtest/gtest.h>

#include <algorithm>

#include "program.h"

namespace nbody::test {
namespace {

// There are two systems, so that each of two devices has one.
const char* const kRun =
    "--scenario plummer --systems 2 --bodies 30 --steps 2 --validate off --quiet --output end.bin";

class Device : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome whole = program_.run(kRun, two_devices_);
    ASSERT_EQ(whole.exit_code, 0) << whole.error;
    right_ = program_.read("end.bin");
    program_.write("end.bin", "old");
  }

  Outcome run_with(const std::string& environment) const {
    // timeout kills a program that hangs; its exit code is then neither 0 nor 1.
    return program_.run(kRun, two_devices_ + " " + environment + " timeout -s KILL 20");
  }

  void expect_one_line(const Outcome& outcome, const std::string& pattern) const {
    EXPECT_EQ(outcome.exit_code, 1) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_TRUE(matches(outcome.error, pattern)) << outcome.error;
    EXPECT_EQ(program_.read("end.bin"), "old");
    EXPECT_EQ(program_.listing().find(".nbody"), std::string::npos);
  }

  // Runs the program repeatedly. In the k-th run, the k-th call fails; the last run is the one that
  // has no k-th call. Returns the number of failures.
  int sweep(const std::string& variable, const std::string& error) {
    int failures = 0;
    // The last calls of a run free memory, so their failures are harmless. The loop ends after
    // three harmless failures in a row.
    for (int call = 1, harmless = 0; harmless < 3 && !HasFailure(); ++call) {
      SCOPED_TRACE(variable + "=" + std::to_string(call));
      const Outcome outcome = run_with(variable + "=" + std::to_string(call));
      if (outcome.exit_code == 0) {
        ++harmless;
        EXPECT_EQ(outcome.error, "");
        EXPECT_TRUE(program_.read("end.bin") == right_) << "a wrong result, said to be right";
        program_.write("end.bin", "old");
      } else {
        harmless = 0;
        ++failures;
        expect_one_line(outcome,
                        "cuda[A-Z][A-Za-z]*\\(.*\\): " + error +
                            "|cublas[A-Z][A-Za-z]*\\(.*\\): CUBLAS_STATUS_[A-Z_]+|no CUDA device");
      }
    }
    return failures;
  }

  const Program program_;
  const std::string two_devices_ = "NBODY_REQUIRE_GPU=1 HOSTCUDA_DEVICES=2";
  std::string right_;
};

TEST_F(Device, FailsInAnyCall) {
  EXPECT_GT(sweep("HOSTCUDA_FAIL_CALL", "cudaErrorUnknown: unknown error"), 10);
}

TEST_F(Device, IsLostInAnyCall) {
  EXPECT_GT(sweep("HOSTCUDA_LOSE_DEVICE", "cudaErrorDevicesUnavailable: .*unavailable"), 10);
}

TEST_F(Device, HasTooLittleMemory) {
  for (const char* bytes : {"1", "100", "500"})
    expect_one_line(run_with(std::string("HOSTCUDA_MEMORY=") + bytes),
                    "cudaMalloc.*: cudaErrorMemoryAllocation: out of memory");
}

TEST_F(Device, IsNotThere) {
  expect_one_line(run_with("HOSTCUDA_DEVICES=0"), "no CUDA device");
  const Outcome more = program_.run(std::string(kRun) + " --devices 3", two_devices_);
  EXPECT_EQ(more.exit_code, 2);
  EXPECT_TRUE(matches(more.error, "--devices: \"3\" is not allowed")) << more.error;
  EXPECT_EQ(program_.read("end.bin"), "old");
}

}  // namespace
}  // namespace nbody::test
