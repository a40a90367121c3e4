#include "run/program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "nbody/error.h"
#include "support/text.h"

namespace nbody {
namespace {

struct Ended {
  int code;
  std::string said;
};

Ended run(const std::function<int()>& work) {
  testing::internal::CaptureStderr();
  const int code = run_program("step99_test", work);
  return {code, testing::internal::GetCapturedStderr()};
}

template <class Error>
Ended run_and_throw(const Error& error) {
  return run([&]() -> int { throw error; });
}

TEST(Program, HandsOnTheCodeOfItsWork) {
  for (const int code : {0, 1, 2}) {
    const Ended end = run([code] { return code; });
    EXPECT_EQ(end.code, code);
    EXPECT_EQ(end.said, "");
  }
}

TEST(Program, SaysInOneLineWhatWentWrong) {
  const auto expect = [](const Ended& end, int code, const std::string& said) {
    EXPECT_EQ(end.code, code);
    EXPECT_EQ(end.said, "step99_test: " + said + "\n");
  };
  expect(run_and_throw(UsageError("--steps: \"x\n\" is not allowed")), 2,
         "--steps: \"x?\" is not allowed");
  expect(run_and_throw(std::runtime_error("cannot write")), 1, "cannot write");
  expect(run_and_throw(std::bad_alloc()), 1, "out of memory");
}

TEST(Program, WithoutADeviceIsSkippedUnlessOneIsRequired) {
  const char* before = std::getenv("NBODY_REQUIRE_GPU");
  const std::string kept = before == nullptr ? "" : before;
  unsetenv("NBODY_REQUIRE_GPU");
  EXPECT_EQ(run_and_throw(NoDevice("no CUDA device")).code, 77);
  setenv("NBODY_REQUIRE_GPU", "0", 1);
  EXPECT_EQ(run_and_throw(NoDevice("no CUDA device")).code, 77);
  setenv("NBODY_REQUIRE_GPU", "1", 1);
  EXPECT_EQ(run_and_throw(NoDevice("no CUDA device")).code, 1);
  if (before == nullptr) {
    unsetenv("NBODY_REQUIRE_GPU");
  } else {
    setenv("NBODY_REQUIRE_GPU", kept.c_str(), 1);
  }
}

TEST(Text, OfNumbersIsShortAndExact) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(0.1f), "0.1");
  EXPECT_EQ(shortest(1e-9), "1e-09");
  EXPECT_EQ(shortest(42), "42");
  EXPECT_EQ(in_digits(2.0 / 3, 3), "0.667");
  EXPECT_EQ(in_digits(1e10, 9), "1e+10");
  EXPECT_EQ(in_digits(-1.0 / 3 * 1e-300, 17).size(),
            std::string("-3.3333333333333333e-301").size());
}

TEST(Text, OfAPatternIsCutNotOverrun) {
  EXPECT_EQ(format("%d of %s", 3, "four"), "3 of four");
  EXPECT_EQ(format("%s", std::string(1000, 'x').c_str()), std::string(511, 'x'));
}

}  // namespace
}  // namespace nbody
