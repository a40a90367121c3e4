#include "execution/report.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "records/finding.h"
#include "support/config.h"
#include "support/fault.h"
#include "support/source_line.h"

namespace hostcuda {
namespace {

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
      return std::string("waiting at ") + barrier_name(thread.scope) + " in " +
             place(thread.file, thread.line);
    case Status::in_warp_call:
      return "waiting in a warp function at " + place(thread.file, thread.line) + " with mask " +
             hexadecimal(thread.request->mask);
    default:
      return "not waiting";
  }
}

// While an Output exists, blocks that run on other operating-system threads cannot print. The
// observer is switched off, because the memory accesses that a message needs are not accesses of
// the kernel.
class Output {
 public:
  Output() : lock_(mutex_), observer_(kernel_observer) {
    if (observer_) kernel_observer = nullptr;
  }
  ~Output() {
    if (observer_) kernel_observer = observer_;
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

 private:
  static constinit inline std::mutex mutex_;
  std::lock_guard<std::mutex> lock_;
  KernelObserver* observer_;
};

Finding finding_in(const BlockState& block, const char* kind, std::string what) {
  Finding finding(kind, std::move(what));
  name_block(finding, block);
  return finding;
}

Finding finding_of_thread(const BlockState& block, const char* kind, std::string what,
                          const std::string& where = "") {
  Finding finding = finding_in(block, kind, std::move(what));
  finding.in_thread = true;
  finding.thread = block.current().index;
  finding.place = where;
  return finding;
}

// Creates a finding whose place is the line that called the reporting function.
Finding finding_at_call(const BlockState& block, const char* kind, std::string what) {
  const Thread& thread = block.current();
  return finding_of_thread(block, kind, std::move(what), place(thread.file, thread.line));
}

[[noreturn]] void die() {
  before_death();
  std::abort();
}

[[noreturn]] void die(Finding finding, const std::string& advice) {
  finding.advice = advice;
  report(std::move(finding));
  die();
}

// Groups the threads by place: returns one line per place, with a few threads as examples.
std::vector<std::string> threads_by_place(const BlockState& block) {
  constexpr unsigned kExamples = 4;
  std::map<std::string, std::pair<unsigned, std::string>> places;
  for (unsigned i = 0; i < block.count(); ++i) {
    auto& [count, examples] = places[where_is(block.thread(i))];
    if (++count <= kExamples) examples += " " + text_of(block.thread(i).index);
    if (count == kExamples + 1) examples += " ...";
  }
  std::vector<std::string> lines;
  for (const auto& [where, threads] : places)
    lines.push_back(std::to_string(threads.first) + " thread(s) " + where + ":" + threads.second);
  return lines;
}

// True for the first message about a source line, so that other blocks do not repeat it.
bool first_time(const char* kind, const char* file, int line) {
  static auto* seen = new std::set<std::string>;
  return seen->insert(std::string(kind) + place(file, line)).second;
}

}  // namespace

void name_block(Finding& finding, const BlockState& block) {
  const Launch& launch = block.launch();
  finding.kernel = launch.site.kernel;
  finding.launched_at = place(launch.site.file, launch.site.line);
  finding.in_block = true;
  finding.block = launch.block_index(block.number());
}

void report_outside_kernel(const char* what, const char* file, int line) {
  Finding finding("outside a kernel", std::string("host code uses ") + what + " (" +
                                          place(file, line) + "), which only kernels may use");
  finding.place = place(file, line);
  die(std::move(finding), "launch a kernel with <<<>>>; a call without it runs on the host");
}

void report_divergence(const BlockState& block) {
  const Output output;
  const Thread& example = block.thread(0);
  if (!config().divergence_is_error && !first_time("divergence", example.file, example.line))
    return;
  Finding finding =
      finding_in(block, "barrier divergence",
                 "barrier divergence: threads of one block wait at different barriers");
  finding.details = threads_by_place(block);
  finding.advice = "move the barrier to a line that all threads of the block reach";
  report(finding);
  if (config().divergence_is_error) die();
}

void report_foreign_mask(const BlockState& block) {
  const Output output;
  const Thread& thread = block.current();
  if (!config().divergence_is_error && !first_time("mask", thread.file, thread.line)) return;
  Finding finding = finding_at_call(
      block, "foreign mask", "a lane calls a warp function but is missing from its own mask");
  finding.details = {"the mask is " + hexadecimal(thread.request->mask)};
  finding.advice = "the mask must contain exactly the lanes that make the call";
  report(finding);
  if (config().divergence_is_error) die();
}

void report_deadlock(const BlockState& block, std::size_t ended_blocks) {
  const Output output;
  Finding finding = finding_in(block, "deadlock", "deadlock: no thread of the block can continue");
  finding.details = threads_by_place(block);
  if (ended_blocks)
    finding.details.push_back(std::to_string(ended_blocks) +
                              " other block(s) returned from the kernel");
  die(std::move(finding),
      "make every thread reach the barrier or warp function at which others wait");
}

void report_no_gang(const BlockState& block, Scope scope) {
  const Output output;
  die(finding_at_call(block, "no such barrier",
                      std::string(barrier_name(scope)) +
                          " in a kernel whose launch does not provide this barrier: only "
                          "cudaLaunchCooperativeKernel, or cudaLaunchKernelEx with the attribute "
                          "cudaLaunchAttributeCooperative, makes all blocks run at the same time"),
      "launch the kernel with cudaLaunchCooperativeKernel");
}

void report_second_arrival(const BlockState& block, Scope scope) {
  const Output output;
  die(finding_at_call(block, "second arrival",
                      std::string("a thread arrives at the barrier of ") + barrier_name(scope) +
                          " a second time, without a wait in between"),
      "wait for the barrier before arriving again");
}

void report_bad_mapping(const BlockState& block, const char* what) {
  const Output output;
  die(finding_at_call(block, "bad mapping", std::string("map_shared_rank: ") + what),
      "map a __shared__ variable to a rank below the number of blocks in the cluster");
}

void report_not_shared(const BlockState& block, const char* what) {
  const Output output;
  die(finding_at_call(block, "bad mapping",
                      std::string("cannot convert an address of shared memory: ") + what),
      "convert a pointer to a __shared__ variable with __cvta_generic_to_shared");
}

void report_cluster_dims(const BlockState& block, const dim3& wanted) {
  const Output output;
  const Launch& launch = block.launch();
  Finding finding = finding_in(
      block, "cluster size",
      "the kernel's __cluster_dims__" + text_of(wanted) +
          " differs from the cluster size of the launch, or does not divide its grid; a GPU "
          "rejects this launch");
  finding.details = {"grid " + text_of(launch.grid) + ", cluster " + text_of(launch.cluster)};
  die(std::move(finding), "make the grid a multiple of the cluster");
}

void report_early_exit(const BlockState& block, const Thread& waiting) {
  const Output output;
  if (!first_time("exit", waiting.file, waiting.line)) return;
  unsigned returned = 0;
  std::string example;
  for (unsigned i = 0; i < block.count(); ++i) {
    if (block.thread(i).status != Status::finished) continue;
    if (!returned++) example = text_of(block.thread(i).index);
  }
  const std::string where = place(waiting.file, waiting.line);
  Finding finding = finding_in(
      block, "return before a barrier",
      std::string("kernel ") + block.launch().site.kernel + ": " + std::to_string(returned) +
          " thread(s) of block " + text_of(block.launch().block_index(block.number())) + ", " +
          example + " among them, returned before the " + barrier_name(waiting.scope) + " at " +
          where + ", where others wait (allowed since sm_70, usually a mistake)");
  finding.is_warning = true;
  finding.place = where;
  finding.advice = "let these threads skip the work but not the barrier";
  report(std::move(finding));
}

void report_shuffle_from_absent_lane(const BlockState& block, const Thread& thread,
                                     unsigned source) {
  const Output output;
  if (!first_time("shuffle", thread.file, thread.line)) return;
  const std::string where = place(thread.file, thread.line);
  Finding finding = finding_in(block, "absent lane",
                               std::string("kernel ") + block.launch().site.kernel + ": thread " +
                                   text_of(thread.index) + " of block " + text_of(blockIdx) +
                                   " reads lane " + std::to_string(source) + " at " + where +
                                   ", but that lane takes no part in the call, so the value is "
                                   "undefined");
  finding.is_warning = true;
  finding.in_thread = true;
  finding.thread = thread.index;
  finding.place = where;
  finding.advice =
      "make the lane that is read call the same function, and include that lane in the mask";
  report(std::move(finding));
}

void report_too_much_shared(const BlockState& block, const char* variable) {
  const Output output;
  Finding finding =
      finding_in(block, "too much shared memory",
                 "more than 48 KiB of static shared memory, which nvcc would not compile");
  finding.array = variable;
  finding.details = {std::string("the variable that exceeds the limit: ") + variable};
  die(std::move(finding), "use dynamic shared memory (extern __shared__)");
}

void report_too_much_shared_in_all(const BlockState& block, const char* variable,
                                   std::size_t static_bytes) {
  const Output output;
  const Launch& launch = block.launch();
  Finding finding =
      finding_in(block, "too much shared memory",
                 "more shared memory than a block may have; a GPU rejects this launch");
  finding.array = variable;
  finding.details = {std::to_string(static_bytes) + " bytes of static and " +
                     std::to_string(launch.dynamic_shared_bytes) + " of dynamic shared memory, " +
                     std::to_string(launch.shared_limit) +
                     " allowed; the variable that exceeds the limit: " + variable};
  die(std::move(finding), "use less, or raise the limit with cudaFuncSetAttribute");
}

void report_api_call(const BlockState& block, const char* function, const void* code) {
  const Output output;
  const bool is_gone = !std::strcmp(function, "cudaDeviceSynchronize");
  die(finding_of_thread(
          block, "host function in a kernel",
          std::string("a kernel calls ") + function +
              (is_gone ? ", which CUDA 12 removed from kernels" : ", a function for host code"),
          CodePlace{code}.text()),
      is_gone ? "launch what needs the children's results into cudaStreamTailLaunch"
              : "call it from host code, after the kernel");
}

void report_launch_bounds(const BlockState& block, unsigned allowed) {
  const Output output;
  Finding finding =
      finding_in(block, "launch bounds",
                 "more threads per block than __launch_bounds__ allows; a GPU rejects this launch");
  finding.details = {std::to_string(block.count()) + " threads, " + std::to_string(allowed) +
                     " allowed"};
  die(std::move(finding), "launch smaller blocks, or raise the bound");
}

void report_block_size(const BlockState& block, const char* what, unsigned threads) {
  const Output output;
  Finding finding =
      finding_in(block, "block size", std::string(what) + " requires blocks of another size");
  finding.details = {std::to_string(block.count()) + " threads instead of " +
                     std::to_string(threads)};
  die(std::move(finding), "launch blocks of that size, or change the template argument");
}

void report_assertion(const BlockState& block, const char* expression, const char* file,
                      unsigned line, const char* function) {
  const Output output;
  const uint3 thread = block.current().index;
  std::fflush(stdout);
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
               file, line, function, blockIdx.x, blockIdx.y, blockIdx.z, thread.x, thread.y,
               thread.z, expression);
  keep(finding_of_thread(block, "assertion", std::string("Assertion `") + expression + "` failed.",
                         place(file, static_cast<int>(line))));
}

void report_outside_surface(const BlockState& block, const std::string& where,
                            const std::string& place, const std::string& size) {
  const Output output;
  Finding finding =
      finding_of_thread(block, "out of bounds",
                        "a kernel accesses a surface out of bounds, which ends the grid", where);
  finding.details = {"x, y and layer: " + place + " in a surface of " + size};
  finding.advice =
      "compare x and y with the size of the array; x counts bytes, so multiply it by the texel's "
      "size";
  report(std::move(finding));
}

void report_trap(const BlockState& block, const char* file, int line) {
  const Output output;
  const std::string where = place(file, line);
  report(finding_of_thread(block, "trap", "__trap() at " + where, where));
}

}  // namespace hostcuda
