#include "execution/report.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "support/config.h"
#include "support/fault.h"

namespace hostcuda {
namespace {

std::string text(const uint3& v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

std::string place(const char* file, int line) {
  return std::string(file) + ":" + std::to_string(line);
}

std::string hexadecimal(unsigned value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, "0x%08x", value);
  return buffer;
}

std::string where_is(const Thread& thread) {
  switch (thread.status) {
    case Status::finished:
      return "returned from the kernel";
    case Status::at_barrier:
      return std::string("waiting at ") + barrier_name(thread.scope) + " " +
             place(thread.file, thread.line);
    case Status::in_warp_call:
      return "waiting in a warp function " + place(thread.file, thread.line) + " with mask " +
             hexadecimal(thread.request->mask);
    default:
      return "not waiting";
  }
}

// One message at a time: blocks run on several operating-system threads.
std::mutex& output() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

void write_error(const BlockState& block, const std::string& what, const std::string& details) {
  const Site& site = block.launch().site;
  std::fflush(stdout);
  std::fprintf(stderr, "\nhostcuda: ERROR: %s\n  kernel %s launched at %s:%d\n  block %s\n%s",
               what.c_str(), site.kernel, site.file, site.line,
               text(block.launch().block_index(block.number())).c_str(), details.c_str());
  std::fflush(stderr);
}

[[noreturn]] void die() {
  before_death();
  std::abort();
}

// Which threads are where: one line per place, with a few threads as examples.
std::string threads_by_place(const BlockState& block) {
  constexpr unsigned kExamples = 4;
  std::map<std::string, std::pair<unsigned, std::string>> places;
  for (unsigned i = 0; i < block.count(); ++i) {
    auto& [count, examples] = places[where_is(block.thread(i))];
    if (++count <= kExamples) examples += " " + text(block.thread(i).index);
    if (count == kExamples + 1) examples += " ...";
  }
  std::string result;
  for (const auto& [where, threads] : places)
    result +=
        "  " + std::to_string(threads.first) + " thread(s) " + where + ":" + threads.second + "\n";
  return result;
}

// True the first time for a source line, so that not every block repeats the message.
bool first_time(const char* kind, const char* file, int line) {
  static auto* seen = new std::set<std::string>;
  return seen->insert(std::string(kind) + place(file, line)).second;
}

}  // namespace

void report_outside_kernel(const char* what, const char* file, int line) {
  std::fflush(stdout);
  std::fprintf(stderr, "hostcuda: ERROR: host code uses %s (%s:%d), which only kernels may use\n",
               what, file, line);
  die();
}

void report_divergence(const BlockState& block) {
  const std::lock_guard lock(output());
  const Thread& example = block.thread(0);
  if (!config().divergence_is_error && !first_time("divergence", example.file, example.line))
    return;
  write_error(block, "barrier divergence: threads of one block wait at different barriers",
              threads_by_place(block));
  if (config().divergence_is_error) die();
}

void report_foreign_mask(const BlockState& block) {
  const std::lock_guard lock(output());
  const Thread& thread = block.current();
  if (!config().divergence_is_error && !first_time("mask", thread.file, thread.line)) return;
  write_error(block, "a warp function is called by a lane that its own mask leaves out",
              "  thread " + text(thread.index) + " at " + place(thread.file, thread.line) +
                  " with mask " + hexadecimal(thread.request->mask) + "\n");
  if (config().divergence_is_error) die();
}

void report_deadlock(const BlockState& block, std::size_t ended_blocks) {
  const std::lock_guard lock(output());
  std::string details = threads_by_place(block);
  if (ended_blocks)
    details += "  " + std::to_string(ended_blocks) + " other block(s) returned from the kernel\n";
  write_error(block, "deadlock: no thread of the block can go on", details);
  die();
}

void report_no_gang(const BlockState& block, Scope scope) {
  const std::lock_guard lock(output());
  const Thread& thread = block.current();
  write_error(block,
              std::string(barrier_name(scope)) +
                  " in a kernel that was not launched for it: only cudaLaunchCooperativeKernel, or "
                  "the attribute of cudaLaunchKernelEx, makes all blocks run at the same time",
              "  thread " + text(thread.index) + " at " + place(thread.file, thread.line) + "\n");
  die();
}

void report_second_arrival(const BlockState& block, Scope scope) {
  const std::lock_guard lock(output());
  const Thread& thread = block.current();
  write_error(block,
              std::string("a thread arrives at the barrier of ") + barrier_name(scope) +
                  " a second time, without a wait in between",
              "  thread " + text(thread.index) + " at " + place(thread.file, thread.line) + "\n");
  die();
}

void report_bad_mapping(const BlockState& block, const char* what) {
  const std::lock_guard lock(output());
  const Thread& thread = block.current();
  write_error(block, std::string("map_shared_rank: ") + what,
              "  thread " + text(thread.index) + " at " + place(thread.file, thread.line) + "\n");
  die();
}

void report_cluster_dims(const BlockState& block, const dim3& wanted) {
  const std::lock_guard lock(output());
  const Launch& launch = block.launch();
  write_error(block,
              "__cluster_dims__" + text(wanted) +
                  " of the kernel is not the cluster of the launch, or does not divide its grid: a "
                  "GPU refuses this launch",
              "  grid " + text(launch.grid) + ", cluster " + text(launch.cluster) + "\n");
  die();
}

void report_early_exit(const BlockState& block, const Thread& waiting) {
  const std::lock_guard lock(output());
  if (!first_time("exit", waiting.file, waiting.line)) return;
  unsigned returned = 0;
  std::string example;
  for (unsigned i = 0; i < block.count(); ++i) {
    if (block.thread(i).status != Status::finished) continue;
    if (!returned++) example = text(block.thread(i).index);
  }
  std::fprintf(stderr,
               "hostcuda: warning: kernel %s: %u thread(s) of block %s, %s among them, returned "
               "before the %s at %s:%d, where others wait (allowed since sm_70, "
               "usually a mistake)\n",
               block.launch().site.kernel, returned,
               text(block.launch().block_index(block.number())).c_str(), example.c_str(),
               barrier_name(waiting.scope), waiting.file, waiting.line);
}

void report_shuffle_from_absent_lane(const BlockState& block, const Thread& thread,
                                     unsigned source) {
  const std::lock_guard lock(output());
  if (!first_time("shuffle", thread.file, thread.line)) return;
  std::fprintf(stderr,
               "hostcuda: warning: kernel %s: thread %s of block %s reads lane %u at %s:%d, which "
               "takes no part in the call: the value is undefined\n",
               block.launch().site.kernel, text(thread.index).c_str(), text(blockIdx).c_str(),
               source, thread.file, thread.line);
}

void report_too_much_shared(const BlockState& block, const char* variable) {
  const std::lock_guard lock(output());
  write_error(block, "more than 48 KiB of static shared memory, which nvcc would not compile",
              std::string("  the variable that passes it: ") + variable + "\n");
  die();
}

void report_too_much_shared_in_all(const BlockState& block, const char* variable,
                                   std::size_t static_bytes) {
  const std::lock_guard lock(output());
  const Launch& launch = block.launch();
  write_error(block,
              "more shared memory than a block may have: a GPU refuses this launch "
              "(cudaFuncSetAttribute raises the limit)",
              "  " + std::to_string(static_bytes) + " bytes of static and " +
                  std::to_string(launch.dynamic_shared_bytes) + " of dynamic shared memory, " +
                  std::to_string(launch.shared_limit) +
                  " allowed; the variable that passes it: " + variable + "\n");
  die();
}

void report_api_call(const BlockState& block, const char* function) {
  const std::lock_guard lock(output());
  const bool is_api = !std::strncmp(function, "cuda", 4) || !std::strncmp(function, "cublas", 6);
  const Thread& thread = block.current();
  write_error(block,
              is_api ? std::string("a kernel calls ") + function + ", a function for host code"
                     : std::string("a kernel launches ") + function +
                           ": kernels that launch kernels (dynamic parallelism) are not emulated",
              "  thread " + text(thread.index) + "\n");
  die();
}

void report_launch_bounds(const BlockState& block, unsigned allowed) {
  const std::lock_guard lock(output());
  write_error(
      block, "more threads per block than __launch_bounds__ allows: a GPU refuses this launch",
      "  " + std::to_string(block.count()) + " threads, " + std::to_string(allowed) + " allowed\n");
  die();
}

void report_block_size(const BlockState& block, const char* what, unsigned threads) {
  const std::lock_guard lock(output());
  write_error(block, std::string(what) + " is made for blocks of another size",
              "  " + std::to_string(block.count()) + " threads, made for " +
                  std::to_string(threads) + "\n");
  die();
}

void report_assertion(const BlockState& block, const char* expression, const char* file,
                      unsigned line, const char* function) {
  const std::lock_guard lock(output());
  const uint3 thread = block.current().index;
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
               file, line, function, blockIdx.x, blockIdx.y, blockIdx.z, thread.x, thread.y,
               thread.z, expression);
}

void report_trap(const BlockState& block, const char* file, int line) {
  const std::lock_guard lock(output());
  write_error(block, "__trap() at " + place(file, line),
              "  thread " + text(block.current().index) + "\n");
}

}  // namespace hostcuda
