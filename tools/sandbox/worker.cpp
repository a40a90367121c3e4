// Defines run_step() for a submission: it answers the judge's requests until the pipe ends. The
// submission's output goes to the standard error and does not affect the result.
#include <cstdio>
#include <exception>

#include "channel.h"
#include "nbody/step.h"
#include "refuse_exec.h"
#if defined(NBODY_GRADES_CUDA)
#include <cuda_runtime.h>

#include <algorithm>
#endif

namespace nbody {
namespace {

using grading::Reply;
using grading::Request;

// Overwrites device memory, so that this call cannot return results that an earlier call left
// there. (hostcuda fills new memory with NaN by itself.)
void poison_device_memory() {
#if defined(NBODY_GRADES_CUDA)
  std::size_t free = 0, total = 0;
  void* memory = nullptr;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
  const std::size_t bytes = std::min(free / 2, std::size_t{1} << 30);
  if (cudaMalloc(&memory, bytes) != cudaSuccess) return;
  cudaMemset(memory, 0xff, bytes);
  cudaFree(memory);
#endif
}

// Runs before the submission's static objects are constructed. Fails on a Linux kernel without
// seccomp; the grader reports this.
[[gnu::constructor(101)]] void start_no_program() { grading::refuse_exec(); }

int answer(Simulate simulate, int requests, int replies) {
  Request request;
  while (grading::read_whole(requests, &request, sizeof request)) {
    if (request.mark != grading::kRequestMark) return 1;
    Systems systems(request.systems, request.bodies);
    const std::size_t bytes = systems.bodies.size() * sizeof(Body);
    if (!grading::read_whole(requests, systems.bodies.data(), bytes)) return 1;
    poison_device_memory();
    simulate({request.dt, request.steps, request.softening_squared, request.devices}, systems);
    const Reply reply{.bodies = systems.bodies.size()};
    if (!grading::write_whole(replies, &reply, sizeof reply) ||
        !grading::write_whole(replies, systems.bodies.data(), systems.bodies.size() * sizeof(Body)))
      return 1;
  }
  return 0;
}

}  // namespace

int run_step(const StepInfo&, Simulate simulate, QueryDevice, int, char**) {
  const int requests = dup(STDIN_FILENO), replies = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  close(STDIN_FILENO);
  try {
    return answer(simulate, requests, replies);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulate() threw: %s\n", error.what());
    return 1;
  }
}

}  // namespace nbody
