// Every mistake in bugs.cu must be found in at least one mode, and its correction must pass in all.
#include <gtest/gtest.h>
#include <regex.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
  int status;  // of the shell: 128 + signal for a signal
  std::string output;
};

// Runs the program in a process of its own: most of these runs abort.
Outcome run(const std::vector<std::string>& environment,
            const std::vector<std::string>& arguments) {
  const char* program = std::getenv("HOSTCUDA_BUGS_PROGRAM");
  EXPECT_NE(program, nullptr) << "HOSTCUDA_BUGS_PROGRAM names the program to run";
  if (!program) return {-1, ""};

  std::vector<std::string> settings = environment;
  settings.push_back("ASAN_OPTIONS=detect_leaks=0");  // bugs leak; leaks are not looked for here
  if (const char* library_path = std::getenv("LD_LIBRARY_PATH"))
    settings.push_back(std::string("LD_LIBRARY_PATH=") + library_path);
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argument_pointers, setting_pointers;
  for (std::string& word : words) argument_pointers.push_back(word.data());
  for (std::string& setting : settings) setting_pointers.push_back(setting.data());
  argument_pointers.push_back(nullptr);
  setting_pointers.push_back(nullptr);

  int ends[2];
  EXPECT_EQ(0, pipe(ends));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = 0;
  EXPECT_EQ(0, posix_spawn(&child, program, &actions, nullptr, argument_pointers.data(),
                           setting_pointers.data()));
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  Outcome outcome{-1, ""};
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    outcome.output.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

// POSIX and not std::regex, which g++ 12 cannot compile without warnings under AddressSanitizer.
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

enum class Ends { with_status_0, with_status_1, with_status_2, abnormally };

struct Case {
  const char* bug;
  std::vector<std::string> environment;
  Ends ends;
  const char* message;
  bool needs_address_sanitizer = false;
};

void check(const Case& c, const std::vector<std::string>& extra_arguments = {}) {
  SCOPED_TRACE(c.bug);
  std::vector<std::string> arguments{c.bug};
  arguments.insert(arguments.end(), extra_arguments.begin(), extra_arguments.end());
  const Outcome outcome = run(c.environment, arguments);
  expect_output(outcome, c.message);
  switch (c.ends) {
    case Ends::with_status_0:
      EXPECT_EQ(0, outcome.status) << outcome.output;
      break;
    case Ends::with_status_1:
      EXPECT_EQ(1, outcome.status) << outcome.output;
      break;
    case Ends::with_status_2:
      EXPECT_EQ(2, outcome.status) << outcome.output;
      break;
    case Ends::abnormally:
      EXPECT_NE(0, outcome.status) << outcome.output;
      EXPECT_EQ(outcome.output.find("result ok"), std::string::npos) << outcome.output;
  }
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"past_shared",
       {},
       Ends::abnormally,
       "global-buffer-overflow.*bugs.cu:|bugs.cu:.*runtime error",
       true},
      {"past_dynamic", {}, Ends::abnormally, "heap-buffer-overflow.*bugs.cu:", true},
      {"past_global", {}, Ends::abnormally, "heap-buffer-overflow.*bugs.cu:", true},
      {"past_global",
       {"HOSTCUDA_STRICT_MEM=1"},
       Ends::abnormally,
       "kernel write_past_global .* accesses .*memory of device 0"},
      {"missing_barrier", {}, Ends::with_status_1, "WRONG RESULT"},
      {"missing_barrier", {"HOSTCUDA_ORDER=reverse"}, Ends::with_status_1, "WRONG RESULT"},
      {"missing_barrier", {"HOSTCUDA_ORDER=random"}, Ends::with_status_1, "WRONG RESULT"},
      {"tile_loop", {}, Ends::with_status_1, "WRONG RESULT"},
      {"tile_loop", {"HOSTCUDA_ORDER=reverse"}, Ends::with_status_1, "WRONG RESULT"},
      {"tile_loop", {"HOSTCUDA_ORDER=random"}, Ends::with_status_1, "WRONG RESULT"},
      {"different_barriers",
       {},
       Ends::abnormally,
       "barrier divergence.*kernel different_barriers<false> launched at .*bugs.cu:[0-9]+\n"
       "  block \\(0,0,0\\)\n"
       "  (40|88) thread\\(s\\) waiting at __syncthreads\\(\\) .*bugs.cu:[0-9]+: "
       "\\([0-9]+,0,0\\).*\n"
       "  (40|88) thread\\(s\\) waiting at __syncthreads\\(\\) .*bugs.cu:[0-9]+: \\([0-9]+,0,0\\)"},
      {"different_barriers",
       {"HOSTCUDA_DIVERGENCE=warn"},
       Ends::with_status_0,
       "barrier divergence.*result ok"},
      {"return_before_barrier",
       {},
       Ends::with_status_0,
       "warning: kernel return_before_barrier<false>: 28 thread"},
      {"barrier_and_shuffle",
       {},
       Ends::abnormally,
       "deadlock.*waiting at __syncthreads.*waiting in a warp function"},
      {"half_initialised", {}, Ends::with_status_1, "WRONG RESULT: element 64 is -?nan"},
      {"shuffle_in_branch", {}, Ends::with_status_1, "which takes no part.*WRONG RESULT"},
      {"host_dereference",
       {"HOSTCUDA_STRICT_MEM=1"},
       Ends::abnormally,
       "host code accesses .*memory of device 0"},
      {"stream_without_event", {"HOSTCUDA_STREAMS=lazy"}, Ends::with_status_1, "WRONG RESULT"},
      {"reused_pinned_buffer", {"HOSTCUDA_STREAMS=lazy"}, Ends::with_status_1, "WRONG RESULT"},
      {"unfinished_copy", {"HOSTCUDA_STREAMS=lazy"}, Ends::with_status_1, "WRONG RESULT"},
      {"constant_on_one_device", {"HOSTCUDA_DEVICES=2"}, Ends::with_status_1, "WRONG RESULT"},
      {"wrong_device",
       {"HOSTCUDA_DEVICES=2", "HOSTCUDA_STRICT_MEM=1"},
       Ends::abnormally,
       "kernel fill .* on device 1 accesses .*memory of device 0"},
      {"use_after_free",
       {"HOSTCUDA_STRICT_MEM=1"},
       Ends::abnormally,
       "kernel fill .* accesses .*memory of device 0 that is freed"},
      {"bad_configuration",
       {},
       Ends::with_status_1,
       "launch error: invalid configuration argument"},
      {"api_call_in_kernel",
       {},
       Ends::abnormally,
       "a kernel calls cudaFree, a function for host code\n  kernel calls_the_api launched"},
      {"launch_in_kernel", {}, Ends::abnormally, "a kernel launches fill: .* not emulated"},
      {"launch_bounds", {}, Ends::abnormally, "__launch_bounds__.*128 threads, 64 allowed"},
      {"static_and_dynamic_shared",
       {},
       Ends::abnormally,
       "32768 bytes of static and 32768 of dynamic shared memory, 49152 allowed; .*: values"},
      // UndefinedBehaviorSanitizer, which comes with AddressSanitizer here, is asked before.
      {"null_pointer",
       {},
       Ends::abnormally,
       kAddressSanitizer
           ? "bugs.cu:[0-9:]* runtime error: store to null pointer"
           : "thread \\(0,0,0\\) of block \\(0,0,0\\) of kernel fill .* accesses .*null pointer"},
      {"division_by_zero",
       {},
       Ends::abnormally,
       "kernel divides .*integer by zero|bugs.cu:.*division"},
      {"waits_for_the_next_block",
       {"HOSTCUDA_WATCHDOG=0.3", "OMP_NUM_THREADS=1", "HOSTCUDA_ORDER=forward"},
       Ends::abnormally,
       "block \\(0,0,0\\) of kernel waits_for_the_next_block .* runs for 0.3 s without"},
      {"assertion",
       {},
       Ends::with_status_1,
       "bugs.cu:[0-9]+: .*asserts.*: block: \\[0,0,0\\], thread: \\[77,0,0\\] Assertion `.*` "
       "failed.\ncudaErrorAssert, then cudaErrorAssert"},
      {"trap",
       {},
       Ends::with_status_1,
       "__trap\\(\\) at .*bugs.cu:[0-9]+\n.*cudaErrorLaunchFailure, then cudaErrorLaunchFailure"},
      {"grid_sync_in_a_plain_launch",
       {},
       Ends::abnormally,
       "grid.sync\\(\\) in a kernel that was not launched for it.*\n  kernel syncs_the_grid .*\n"
       ".*\n  thread \\(.*\\) at .*gang_bugs.h:[0-9]+"},
      {"block_returns_before_grid_sync",
       {},
       Ends::abnormally,
       "deadlock.*64 thread\\(s\\) waiting at grid.sync\\(\\) .*gang_bugs.h:[0-9]+.*"
       "1 other block\\(s\\) returned"},
      {"barriers_of_different_scope",
       {},
       Ends::abnormally,
       "deadlock.*32 thread\\(s\\) waiting at __syncthreads.*32 thread\\(s\\) waiting at grid.sync|"
       "deadlock.*32 thread\\(s\\) waiting at grid.sync.*32 thread\\(s\\) waiting at "
       "__syncthreads"},
      {"cooperative_blocks_wait_forever",
       {"HOSTCUDA_WATCHDOG=0.3"},
       Ends::abnormally,
       "kernel waits_forever .* runs for 0.3 s without"},
      {"cluster_block_ends_early", {}, Ends::with_status_1, "WRONG RESULT: element 64 is -?nan"},
      {"maps_what_is_not_shared",
       {},
       Ends::abnormally,
       "map_shared_rank: the address is not in shared memory"},
      {"cub_block_of_another_size",
       {},
       Ends::abnormally,
       "cub::BlockReduce is made for blocks of another size.*128 threads, made for 256"},
      {"sum_that_only_thread_0_has", {}, Ends::with_status_1, "WRONG RESULT: element 1 is -?nan"},
      {"thrust_on_the_wrong_side",
       {"HOSTCUDA_STRICT_MEM=1"},
       Ends::abnormally,
       "host code accesses .*memory of device 0"},
      {"deep_recursion", {}, Ends::abnormally, "stack.overflow|overflows the stack"},
  };
  return all;
}

TEST(Bugs, AreFound) {
  for (const Case& c : cases())
    if (kAddressSanitizer || !c.needs_address_sanitizer) check(c);
}

// Blocks are only spread over several cores without AddressSanitizer.
TEST(Bugs, LostUpdateIsFoundOnSeveralCores) {
  if (kAddressSanitizer || std::thread::hardware_concurrency() < 2) GTEST_SKIP();
  check({"lost_update", {}, Ends::with_status_1, "WRONG RESULT"});
}

TEST(Bugs, CorrectionsPassInEveryMode) {
  const std::vector<std::vector<std::string>> modes = {
      {},
      {"HOSTCUDA_ORDER=reverse", "HOSTCUDA_STREAMS=lazy"},
      {"HOSTCUDA_ORDER=random", "HOSTCUDA_STREAMS=random", "HOSTCUDA_STRICT_MEM=1"},
  };
  for (std::vector<std::string> mode : modes) {
    mode.push_back("HOSTCUDA_DEVICES=2");
    for (const Case& c : cases())
      check({c.bug, mode, Ends::with_status_0, "^result ok\n$"}, {"corrected"});
    check({"lost_update", mode, Ends::with_status_0, "^result ok\n$"}, {"corrected"});
  }
}

TEST(Environment, RefusesWhatItDoesNotKnow) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"HOSTCUDA_ORDER=backward", "forward\\|reverse\\|random"},
      {"HOSTCUDA_STREAMS=", "eager\\|lazy\\|random"},
      {"HOSTCUDA_SEED=-1", "whole number"},
      {"HOSTCUDA_SEED=18446744073709551616", "whole number"},
      {"HOSTCUDA_DEVICES=17", "from 0 to 16"},
      {"HOSTCUDA_DEVICES=2x", "from 0 to 16"},
      {"HOSTCUDA_SMS=0", "from 1 to 1024"},
      {"HOSTCUDA_MEMORY=1GB", "whole number"},
      {"HOSTCUDA_STRICT_MEM=yes", "0\\|1"},
      {"HOSTCUDA_POISON=true", "0\\|1"},
      {"HOSTCUDA_DIVERGENCE=ignore", "error\\|warn"},
      {"HOSTCUDA_WATCHDOG=-1", "seconds from 0 to 1000000"},
      {"HOSTCUDA_WATCHDOG=nan", "seconds from 0 to 1000000"},
      {"HOSTCUDA_WATCHDOG=1s", "seconds from 0 to 1000000"},
      {"HOSTCUDA_STREAM=lazy", "HOSTCUDA_STREAMS"},
  };
  for (const auto& [setting, allowed] : wrong) {
    SCOPED_TRACE(setting);
    const Outcome outcome = run({setting}, {"bad_configuration", "corrected"});
    EXPECT_EQ(2, outcome.status) << outcome.output;
    expect_output(outcome, "^hostcuda: " + std::string(setting) + " is not allowed.*" + allowed);
    EXPECT_EQ(1, std::count(outcome.output.begin(), outcome.output.end(), '\n')) << outcome.output;
  }
}

TEST(Environment, NoDeviceAtAll) {
  const Outcome outcome = run({"HOSTCUDA_DEVICES=0"}, {"show_environment"});
  EXPECT_EQ(0, outcome.status);
  EXPECT_EQ(
      "count 0: cudaErrorNoDevice; 1000 bytes: cudaErrorNoDevice; launch: cudaErrorNoDevice\n",
      outcome.output);
}

TEST(Environment, MemoryIsLimited) {
  const std::string wanted[] = {"cudaErrorMemoryAllocation", "cudaSuccess"};
  for (int enough : {0, 1}) {
    const Outcome outcome =
        run({enough ? "HOSTCUDA_MEMORY=1000" : "HOSTCUDA_MEMORY=999", "HOSTCUDA_STREAMS=lazy"},
            {"show_environment"});
    expect_output(outcome, "count 1: cudaSuccess; 1000 bytes: " + wanted[enough]);
  }
}

}  // namespace
