// Mistakes in the use of CUB and Thrust.
#ifndef HOSTCUDA_TESTS_CUB_BUGS_H
#define HOSTCUDA_TESTS_CUB_BUGS_H

#include <thrust/execution_policy.h>
#include <thrust/fill.h>

#include <cub/block/block_reduce.cuh>
#include <string>

namespace cub_bugs {

// Expects the sum, which is 1, in all threads. BlockReduce returns the sum only to thread 0.
template <int kThreads, bool kShares>
__global__ void block_sum(float* out) {
  using Reduce = cub::BlockReduce<float, kThreads>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ float shared_sum;
  const float sum = Reduce(storage).Sum(1.0f / kThreads);
  if (threadIdx.x == 0) shared_sum = sum;
  __syncthreads();
  out[threadIdx.x] = kShares ? shared_sum : sum;
}

}  // namespace cub_bugs

// Makes 128 threads write 1 to `out`. Returns false if there is no such bug.
inline bool run_cub_bug(const std::string& bug, bool corrected, float* out) {
  using namespace cub_bugs;
  if (bug == "cub_block_of_another_size")
    corrected ? block_sum<128, true><<<1, 128>>>(out) : block_sum<256, true><<<1, 128>>>(out);
  else if (bug == "sum_that_only_thread_0_has")
    corrected ? block_sum<128, true><<<1, 128>>>(out) : block_sum<128, false><<<1, 128>>>(out);
  else if (bug == "thrust_on_the_wrong_side")
    corrected ? thrust::fill(thrust::device, out, out + 128, 1.0f)
              : thrust::fill(thrust::host, out, out + 128, 1.0f);
  else
    return false;
  return true;
}

#endif
