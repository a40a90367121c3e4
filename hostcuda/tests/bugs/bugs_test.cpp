// Every mistake in bugs.cu must be found in at least one mode, and its correction must pass in all
// modes.
#include <gtest/gtest.h>
#include <regex.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif
#else
constexpr bool kAddressSanitizer = false;
#endif

struct Outcome {
  int status;  // as in a shell: 128 + the signal's number if a signal ended it
  std::string output;
};

// Runs the program with only the given environment, in a separate process, because most of these
// runs abort.
Outcome run(const std::string& environment, const std::string& arguments) {
  const char* program = std::getenv("HOSTCUDA_BUGS_PROGRAM");
  EXPECT_NE(program, nullptr) << "HOSTCUDA_BUGS_PROGRAM names the program to run";
  if (!program) return {-1, ""};
  std::string command = "exec env -i ASAN_OPTIONS=detect_leaks=0 ";  // leaks are not tested
  if (const char* library_path = std::getenv("LD_LIBRARY_PATH"))
    command += std::string("LD_LIBRARY_PATH='") + library_path + "' ";
  command += environment + " '" + program + "' " + arguments + " 2>&1";

  std::FILE* const pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  Outcome outcome{-1, ""};
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe))
    outcome.output.append(buffer, n);
  const int status = pclose(pipe);
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

// Does not use std::regex, because g++ 12 warns about it under AddressSanitizer.
bool matches(const std::string& text, const std::string& expression) {
  regex_t compiled;
  EXPECT_EQ(0, regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB)) << expression;
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

void expect_output(const Outcome& outcome, const std::string& expression) {
  EXPECT_TRUE(matches(outcome.output, expression))
      << "wanted: " << expression << "\ngot (status " << outcome.status << "):\n"
      << outcome.output;
}

constexpr int kAbnormally = -1;  // any status except 0, and no "result ok" printed

struct Case {
  const char* bug;
  int status;
  std::string message;
  std::string environment = "";
  bool needs_address_sanitizer = false;
};

void check(const Case& c, const std::string& extra_argument = "") {
  SCOPED_TRACE(c.bug);
  const Outcome outcome = run(c.environment, std::string(c.bug) + " " + extra_argument);
  expect_output(outcome, c.message);
  if (c.status == kAbnormally) {
    EXPECT_NE(0, outcome.status) << outcome.output;
    EXPECT_EQ(outcome.output.find("result ok"), std::string::npos) << outcome.output;
  } else {
    EXPECT_EQ(c.status, outcome.status) << outcome.output;
  }
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"past_shared", kAbnormally, "global-buffer-overflow.*bugs.cu:|bugs.cu:.*runtime error", "",
       true},
      {"past_dynamic", kAbnormally, "heap-buffer-overflow.*bugs.cu:", "", true},
      {"past_global", kAbnormally, "heap-buffer-overflow.*bugs.cu:", "", true},
      {"past_global", kAbnormally, "kernel write_past_global .* accesses .*memory of device 0",
       "HOSTCUDA_STRICT_MEM=1"},
      {"missing_barrier", 1, "WRONG RESULT"},
      {"missing_barrier", 1, "WRONG RESULT", "HOSTCUDA_ORDER=reverse"},
      {"missing_barrier", 1, "WRONG RESULT", "HOSTCUDA_ORDER=random"},
      {"tile_loop", 1, "WRONG RESULT"},
      {"tile_loop", 1, "WRONG RESULT", "HOSTCUDA_ORDER=reverse"},
      {"tile_loop", 1, "WRONG RESULT", "HOSTCUDA_ORDER=random"},
      {"tile_loop", 1, "WRONG RESULT", "HOSTCUDA_ORDER=skewed"},
      {"warp_runs_ahead", 0, "result ok"},  // only a skewed schedule shows this mistake
      {"warp_runs_ahead", 0, "result ok", "HOSTCUDA_ORDER=reverse"},
      {"warp_runs_ahead", 1, "WRONG RESULT", "HOSTCUDA_ORDER=skewed"},
      {"warp_runs_ahead", 1, "WRONG RESULT", "HOSTCUDA_ORDER=skewed HOSTCUDA_SEED=2"},
      {"warp_runs_ahead", 1, "WRONG RESULT", "HOSTCUDA_ORDER=random HOSTCUDA_SEED=3"},
      {"different_barriers", kAbnormally,
       "barrier divergence.*kernel different_barriers<false> launched at .*bugs.cu:[0-9]+\n"
       "  block \\(0,0,0\\)\n"
       "  (40|88) thread\\(s\\) waiting at __syncthreads\\(\\) .*bugs.cu:[0-9]+: "
       "\\([0-9]+,0,0\\).*\n"
       "  (40|88) thread\\(s\\) waiting at __syncthreads\\(\\) .*bugs.cu:[0-9]+: \\([0-9]+,0,0\\)"},
      {"different_barriers", 0, "barrier divergence.*result ok", "HOSTCUDA_DIVERGENCE=warn"},
      {"return_before_barrier", 0, "warning: kernel return_before_barrier<false>: 28 thread"},
      {"barrier_and_shuffle", kAbnormally,
       "deadlock.*waiting at __syncthreads.*waiting in a warp function"},
      {"half_initialised", 1,
       "^hostcuda: hint: (a copy|the copy at .*buffers.h:[0-9]+) brings values to the host that "
       "were never written.*`hostcuda check`.*\nWRONG RESULT: element 64 is -?nan"},
      {"shuffle_in_branch", 1, "that lane takes no part.*WRONG RESULT"},
      {"host_dereference", kAbnormally, "host code accesses .*memory of device 0",
       "HOSTCUDA_STRICT_MEM=1"},
      {"stream_without_event", 1, "WRONG RESULT", "HOSTCUDA_STREAMS=lazy"},
      {"reused_pinned_buffer", 1, "WRONG RESULT", "HOSTCUDA_STREAMS=lazy"},
      {"unfinished_copy", 1, "WRONG RESULT", "HOSTCUDA_STREAMS=lazy"},
      {"constant_on_one_device", 1, "WRONG RESULT", "HOSTCUDA_DEVICES=2"},
      {"wrong_device", kAbnormally, "kernel fill .* on device 1 accesses .*memory of device 0",
       "HOSTCUDA_DEVICES=2 HOSTCUDA_STRICT_MEM=1"},
      {"use_after_free", kAbnormally, "kernel fill .* accesses .*memory of device 0 that is freed",
       "HOSTCUDA_STRICT_MEM=1"},
      {"bad_configuration", 1, "launch error: invalid configuration argument"},
      {"api_call_in_kernel", kAbnormally,
       "a kernel calls cudaMemset, a function for host code\n  kernel calls_the_api launched"},
      {"kernel_waits_for_child", kAbnormally,
       "a kernel calls cudaDeviceSynchronize, which CUDA 12 removed from kernels\n"},
      {"launch_bounds", 1, "WRONG RESULT"},
      {"static_and_dynamic_shared", kAbnormally,
       "32768 bytes of static and 32768 of dynamic shared memory, 49152 allowed; .*: values"},
      // UndefinedBehaviorSanitizer, which the AddressSanitizer build includes, finds this mistake
      // first.
      {"null_pointer", kAbnormally,
       kAddressSanitizer
           ? "bugs.cu:[0-9:]* runtime error: store to null pointer"
           : "thread \\(0,0,0\\) of block \\(0,0,0\\) of kernel fill .* accesses .*null pointer"},
      {"division_by_zero", kAbnormally, "kernel divides .*integer by zero|bugs.cu:.*division"},
      {"waits_for_the_next_block", kAbnormally,
       "block \\(0,0,0\\) of kernel waits_for_the_next_block .* runs for 0.3 s without",
       "HOSTCUDA_WATCHDOG=0.3 OMP_NUM_THREADS=1 HOSTCUDA_ORDER=forward"},
      {"assertion", 1,
       "bugs.cu:[0-9]+: .*asserts.*: block: \\[0,0,0\\], thread: \\[77,0,0\\] Assertion `.*` "
       "failed.\ncudaErrorAssert, then cudaErrorAssert"},
      {"trap", 1,
       "__trap\\(\\) at .*bugs.cu:[0-9]+\n.*cudaErrorLaunchFailure, then cudaErrorLaunchFailure"},
      {"trap_in_asm", 1,
       "__trap\\(\\) at .*bugs.cu:[0-9]+\n.*cudaErrorLaunchFailure, then cudaErrorLaunchFailure"},
      {"reference_to_host", 0,
       "kernel set_one is given a reference to a variable of host code, .*\n  at "
       ".*bugs.cu:[0-9]+\n.*result ok"},
      {"grid_sync_in_a_plain_launch", kAbnormally,
       "grid.sync\\(\\) in a kernel whose launch does not.*\n  kernel syncs_the_grid .*\n"
       ".*\n  thread \\(.*\\) at .*gang_bugs.h:[0-9]+"},
      {"block_returns_before_grid_sync", kAbnormally,
       "deadlock.*64 thread\\(s\\) waiting at grid.sync\\(\\) .*gang_bugs.h:[0-9]+.*"
       "1 other block\\(s\\) returned"},
      {"barriers_of_different_scope", kAbnormally,
       "deadlock.*32 thread\\(s\\) waiting at __syncthreads.*32 thread\\(s\\) waiting at grid.sync|"
       "deadlock.*32 thread\\(s\\) waiting at grid.sync.*32 thread\\(s\\) waiting at "
       "__syncthreads"},
      {"cooperative_blocks_wait_forever", kAbnormally,
       "kernel waits_forever .* runs for 0.3 s without", "HOSTCUDA_WATCHDOG=0.3"},
      {"cluster_block_ends_early", 1, "WRONG RESULT: element 64 is -?nan"},
      {"maps_what_is_not_shared", kAbnormally,
       "map_shared_rank: the address is not in shared memory"},
      {"cub_block_of_another_size", kAbnormally,
       "cub::BlockReduce requires blocks of another size.*128 threads instead of 256"},
      {"sum_that_only_thread_0_has", 1, "WRONG RESULT: element 1 is -?nan"},
      {"thrust_on_the_wrong_side", kAbnormally, "host code accesses .*memory of device 0",
       "HOSTCUDA_STRICT_MEM=1"},
      {"deep_recursion", kAbnormally, "stack.overflow|overflows the stack"},
  };
  return all;
}

TEST(Bugs, AreFound) {
  for (const Case& c : cases())
    if (kAddressSanitizer || !c.needs_address_sanitizer) check(c);
}

// In a plain run (without AddressSanitizer and HOSTCUDA_STRICT_MEM), a kernel that writes outside
// its array hits guard bytes or unused memory.
const std::vector<Case>& missed_cases() {
  const std::string hint = "result ok.*\nhostcuda: hint: a kernel or a copy wrote ";
  const std::string end =
      " an array of 40 bytes(, allocated at .*missed_bugs.h:[0-9]+)?; `hostcuda check` ";
  static const std::vector<Case> all = {
      {"past_small", 0, hint + "past the end of" + end},
      {"before_small", 0, hint + "before the beginning of" + end},
      {"past_pinned", 0, hint + "past the end of" + end},
      {"far_index", kAbnormally,
       "kernel write_around .* accesses .*[0-9]+ bytes past the end of an array of 40 bytes"
       "(, allocated at .*missed_bugs.h:[0-9]+\n  at .*missed_bugs.h:[0-9]+)?\nhostcuda: hint: "
       "`hostcuda check` "},
  };
  return all;
}

TEST(Bugs, AMissedArrayDamagesNothingElse) {
  if (kAddressSanitizer) GTEST_SKIP();
  for (const Case& c : missed_cases()) check(c);
}

// The test needs blocks that run on several cores, which AddressSanitizer prevents.
TEST(Bugs, LostUpdateIsFoundOnSeveralCores) {
  if (kAddressSanitizer || std::thread::hardware_concurrency() < 2) GTEST_SKIP();
  check({"lost_update", 1, "WRONG RESULT"});
}

TEST(Bugs, CorrectionsPassInEveryMode) {
  for (const char* mode : {"HOSTCUDA_DEVICES=2", "HOSTCUDA_DEVICES=2 HOSTCUDA_ORDER=skewed",
                           "HOSTCUDA_DEVICES=2 HOSTCUDA_ORDER=reverse HOSTCUDA_STREAMS=lazy",
                           "HOSTCUDA_DEVICES=2 HOSTCUDA_ORDER=random HOSTCUDA_STREAMS=random "
                           "HOSTCUDA_STRICT_MEM=1"}) {
    for (const Case& c : cases()) check({c.bug, 0, "^result ok\n$", mode}, "corrected");
    for (const Case& c : missed_cases()) check({c.bug, 0, "^result ok\n$", mode}, "corrected");
    check({"lost_update", 0, "^result ok\n$", mode}, "corrected");
  }
}

TEST(Environment, RoomBehindAllocationsTakesWhatIsWrittenThere) {
  if (kAddressSanitizer) GTEST_SKIP();
  check({"past_small", 0, "^result ok\n$", "HOSTCUDA_ROOM=65536"});
}

TEST(Environment, RefusesWhatItDoesNotKnow) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"HOSTCUDA_ORDER=backward", "forward\\|reverse\\|random\\|skewed"},
      {"HOSTCUDA_STREAMS=", "eager\\|lazy\\|random"},
      {"HOSTCUDA_SEED=-1", "whole number"},
      {"HOSTCUDA_SEED=18446744073709551616", "whole number"},
      {"HOSTCUDA_DEVICES=17", "from 0 to 16"},
      {"HOSTCUDA_DEVICES=2x", "from 0 to 16"},
      {"HOSTCUDA_SMS=0", "from 1 to 1024"},
      {"HOSTCUDA_MEMORY=1GB", "whole number"},
      {"HOSTCUDA_STRICT_MEM=yes", "0\\|1"},
      {"HOSTCUDA_POISON=true", "0\\|1"},
      {"HOSTCUDA_ROOM=64k", "whole number"},
      {"HOSTCUDA_DIVERGENCE=ignore", "error\\|warn"},
      {"HOSTCUDA_WATCHDOG=-1", "seconds from 0 to 1000000"},
      {"HOSTCUDA_WATCHDOG=nan", "seconds from 0 to 1000000"},
      {"HOSTCUDA_WATCHDOG=1s", "seconds from 0 to 1000000"},
      {"HOSTCUDA_STREAM=lazy", "HOSTCUDA_STREAMS"},
  };
  for (const auto& [setting, allowed] : wrong) {
    SCOPED_TRACE(setting);
    const Outcome outcome = run(setting, "bad_configuration corrected");
    EXPECT_EQ(2, outcome.status) << outcome.output;
    expect_output(outcome, "^hostcuda: " + std::string(setting) + " is not allowed.*" + allowed);
    EXPECT_EQ(1, std::count(outcome.output.begin(), outcome.output.end(), '\n')) << outcome.output;
  }
}

TEST(Environment, NoDeviceAtAll) {
  const Outcome outcome = run("HOSTCUDA_DEVICES=0", "show_environment");
  EXPECT_EQ(0, outcome.status);
  EXPECT_EQ(
      "count 0: cudaErrorNoDevice; 1000 bytes: cudaErrorNoDevice; launch: cudaErrorNoDevice\n",
      outcome.output);
}

TEST(Environment, MemoryIsLimited) {
  const std::vector<std::pair<const char*, const char*>> limits = {
      {"HOSTCUDA_MEMORY=999", "cudaErrorMemoryAllocation"},
      {"HOSTCUDA_MEMORY=1000", "cudaSuccess"},
  };
  for (const auto& [limit, wanted] : limits)
    expect_output(run(std::string(limit) + " HOSTCUDA_STREAMS=lazy", "show_environment"),
                  std::string("count 1: cudaSuccess; 1000 bytes: ") + wanted);
}

}  // namespace
