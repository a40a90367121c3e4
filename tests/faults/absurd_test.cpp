// Problems that are too large for any machine, and files that contain no bodies, must be rejected
// with a one-line message before anything is allocated.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "program.h"

namespace nbody::test {
namespace {

// Limits the program to an address space of 4 GB, as on a small machine, and kills it after a
// minute.
const char* const kSmallMachine = R"(sh -c 'ulimit -v 4000000; exec timeout -s KILL 60 "$0" "$@"')";

class Absurd : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer needs more address space than the limit leaves";
#endif
    if (!has_device(program_)) GTEST_SKIP() << "no device";
  }
  void expect(int exit_code, const std::string& arguments, const std::string& pattern,
              const std::string& machine = kSmallMachine) const {
    SCOPED_TRACE(arguments);
    const Outcome outcome = program_.run(arguments, machine);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.error;
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_TRUE(matches(outcome.error, pattern)) << outcome.error;
  }
  const Program program_;
};

TEST_F(Absurd, SizesAreComparedWithTheMemory) {
  // The message must contain the required memory even if only a step's padding exceeds the limit.
  const std::string needs = "needs about [0-9.e+]+ GB of memory; [0-9.]+ GB are available";
  expect(1, "--bodies 200000000 --systems 1", needs);
  expect(1, "--bodies 2000000000 --systems 1 --validate off", needs);
  expect(1, "--systems 1000000 --bodies 1024", needs);
  expect(2, "--systems 2147483647 --bodies 2147483647", "at most 2147483647 are allowed");
  expect(2, "--systems 65536 --bodies 65536", "at most 2147483647 are allowed");
  expect(2, "--systems 2 --bodies 2147483647", "at most 2147483647 are allowed");
  expect(2, "--bodies 2147483648", "--bodies: \"2147483648\"");
  expect(2, "--steps 9223372036854775808", "--steps: \"9223372036854775808\"");
}

// The files are sparse: they are large but take no space on the disk.
TEST_F(Absurd, FilesAreComparedWithTheMemory) {
  for (const auto& [name, head] : {std::pair("a.raw", std::string(24, '\0')),
                                   std::pair("a.csv", "x,y,vx,vy\n" + std::string(2000, '\n'))}) {
    program_.write(name, head);
    truncate(program_.file(name).c_str(), 24LL << 30);
    expect(1, std::string("--input ") + name, "is larger than the [0-9]+ MB of available memory");
  }
  truncate(program_.file("a.raw").c_str(), 24LL << 33);
  expect(2, "--input a.raw", "at most 2147483647 are possible");
}

TEST_F(Absurd, InputThatNeverEndsIsGivenUp) {
  expect(1, "--input /dev/stdin", "/dev/stdin is larger than the ",
         R"(sh -c 'yes 0,0,0,0 | (ulimit -v 400000; exec timeout -s KILL 60 "$0" "$@")')");
}

// Returns arguments of env that limit a run to this address space and kill it after some seconds.
// OpenBLAS has one thread: on a computer with 16 cores, its threads alone would exceed the limit,
// and it would end the program before the program's own messages.
std::string with_address_space(const std::string& kilobytes, const char* seconds) {
  return joined("-u OMP_NUM_THREADS OPENBLAS_NUM_THREADS=1 sh -c 'ulimit -v ", kilobytes,
                "; exec timeout -s KILL ", seconds, R"( "$0" "$@"')");
}

// OpenBLAS 0.3.29 (Debian 13) allocates its buffers before main() starts. If the allocation fails,
// OpenBLAS retries forever, and a program that is linked with OpenBLAS cannot prevent that. The
// program $NBODY_ONLY_OPENBLAS only loads OpenBLAS.
bool openblas_hangs(const std::string& kilobytes) {
  const char* const program = std::getenv("NBODY_ONLY_OPENBLAS");
  if (program == nullptr) return false;
  const std::string command =
      joined("env ", with_address_space(kilobytes, "5"), " '", program, "' 2>/dev/null");
  const int status = std::system(command.c_str());
  return WIFSIGNALED(status) || WEXITSTATUS(status) == 128 + 9;
}

// If the address space is too small for a program's libraries, threads or data, the program must
// say so and end.
TEST_F(Absurd, AddressSpaceThatIsTooSmallEndsARun) {
  int runs = 0;
  for (const char* kilobytes :
       {"20000", "40000", "60000", "80000", "100000", "200000", "400000", "800000"}) {
    SCOPED_TRACE(kilobytes);
    if (openblas_hangs(kilobytes)) continue;
    ++runs;
    const Outcome outcome =
        program_.run("--scenario plummer --systems 5 --bodies 200 --steps 2 --validate off --quiet",
                     with_address_space(kilobytes, "20"));
    EXPECT_NE(outcome.exit_code, 128 + 9) << "it hangs";
    EXPECT_EQ(outcome.exit_code == 0, outcome.error.empty()) << outcome.error;
  }
  EXPECT_GE(runs, 2);
}

TEST_F(Absurd, AThreadThatCannotStartIsNamed) {
  expect(1, "--scenario two-body --steps 1", "cannot start 64 threads: ",
         "OMP_NUM_THREADS=64 OPENBLAS_NUM_THREADS=1 "
         R"(sh -c 'ulimit -v 400000; exec timeout -s KILL 20 "$0" "$@"')");
}

TEST_F(Absurd, InputIsAFileThatCanBeRead) {
  expect(2, "--input /dev/zero", "is a device");
  expect(2, "--input .", "is a folder");
  program_.write("locked.csv", "x,y,vx,vy\n0,0,0,0\n");
  chmod(program_.file("locked.csv").c_str(), 0);
  if (geteuid() == 0) return;  // root may read everything
  expect(2, "--input locked.csv", "Permission denied");
}

TEST_F(Absurd, APipeWithoutAWriterIsGivenUp) {
  ASSERT_EQ(mkfifo(program_.file("pipe").c_str(), 0600), 0);
  expect(2, "--input pipe", "is a pipe that no program writes to");
}

}  // namespace
}  // namespace nbody::test
