// Bugs in kernels that launch kernels.
#ifndef HOSTCUDA_TESTS_FINDINGS_CHILDREN_BUGS_H
#define HOSTCUDA_TESTS_FINDINGS_CHILDREN_BUGS_H

#include "seeded.h"

namespace seeded {

__global__ void child_writes(int* out, int n) {
  // BUG child_out_of_bounds
  if (index() < n) out[index()] = index();
}
__global__ void launches_child(int* out, int n) { child_writes<<<2, kThreads>>>(out, n); }
SEEDED(child_out_of_bounds, "out of bounds") {
  const Buffer<int> out(kThreads + 1);
  launches_child<<<1, 1>>>(out.data, wrong ? 2 * kThreads : kThreads + 1);
}

__global__ void child_reads(const int* in, int* out) { out[threadIdx.x] = *in; }
__global__ void passes_own_variable(int* out, bool wrong) {
  int own = 3;
  out[kThreads] = own;
  // BUG pointer_to_local_variable
  child_reads<<<1, kThreads>>>(wrong ? &own : out + kThreads, out);
}
SEEDED_KERNEL(pointer_to_local_variable, "local pointer", passes_own_variable, 1, 1, kThreads + 1)

__global__ void child_of_many(int* sum, int value) {
  // BUG race_in_a_child
  *sum += value;
}
__global__ void launches_racing_child(int* sum, bool wrong) {
  child_of_many<<<1, wrong ? 32 : 1>>>(sum, 1);
}
SEEDED(race_in_a_child, "lost update") {
  const Buffer<int> sum(1);
  launches_racing_child<<<1, 1>>>(sum.data, wrong);
}

__global__ void allocates_by_api(int* out, bool wrong) {
  int* memory = nullptr;
  // BUG never_freed_by_kernels
  cudaMalloc(&memory, 4 * sizeof(int));
  memory[0] = 5;
  out[threadIdx.x] = memory[0];
  if (!wrong) cudaFree(memory);
}
SEEDED_KERNEL(never_freed_by_kernels, "leak", allocates_by_api, 1, 1, 1)

__global__ void frees_by_api(int* given, bool wrong) {
  *given = 1;
  // BUG api_frees_the_hosts
  if (wrong) cudaFree(given);
}
SEEDED_KERNEL(api_frees_the_hosts, "bad free", frees_by_api, 1, 1, 1)

}  // namespace seeded

#endif
