// memory06_warps -- the same sum: a thread adds many bodies, a warp adds its lanes by shuffles.
// Parent: memory05_tree. Changed: the kernel, and the grid, which has a fixed size.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory06_warps.cu -o memory06_warps
// Without a GPU: ./nbody build memory06_warps, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kBlockSize = 256;

__device__ float moment(const float4& body) {
  return body.w * (body.x * body.x + body.y * body.y + body.z * body.z);
}

constexpr unsigned kAllLanes = 0xffffffffu;

// Returns, in lane 0, the sum over the lanes of a warp: five shuffles, no barrier and no shared
// memory.
__device__ float sum_of_warp(float sum) {
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(kAllLanes, sum, distance);
  }
  return sum;
}

__global__ void add_up(const float4* bodies, int n, float* sums) {
  __shared__ float partial[kBlockSize / 32];
  float sum = 0.0f;
  for (int i = blockIdx.x * kBlockSize + threadIdx.x; i < n; i += gridDim.x * kBlockSize) {
    sum += moment(bodies[i]);
  }
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();  // all warps have written their sums
  if (threadIdx.x >= 32) return;
  sum = sum_of_warp(threadIdx.x < kBlockSize / 32 ? partial[threadIdx.x] : 0.0f);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int main(int argc, char** argv) {
  const memory::Options run = memory::options(argc, argv);
  const int n = run.systems * run.bodies;
  const std::vector<Body> bodies = memory::bodies(n);
  std::vector<float4> points(n);
  double reference = 0;
  for (int i = 0; i < n; ++i) {
    const Body& b = bodies[i];
    points[i] = float4{b.x, b.y, b.z, b.mass};
    const double x = b.x, y = b.y, z = b.z;
    reference += b.mass * (x * x + y * y + z * z);
  }

  int multiprocessors = 0;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const int blocks = std::min((n - 1) / kBlockSize + 1, 8 * multiprocessors);
  float4* device_bodies = nullptr;
  float* device_sums = nullptr;
  CHECK(cudaMalloc(&device_bodies, n * sizeof(float4)));
  CHECK(cudaMalloc(&device_sums, blocks * sizeof(float)));
  CHECK(cudaMemcpy(device_bodies, points.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  add_up<<<blocks, kBlockSize>>>(device_bodies, n, device_sums);
  CHECK(cudaGetLastError());
  std::vector<float> sums(blocks);
  CHECK(cudaMemcpy(sums.data(), device_sums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
  const double time = memory::seconds(
      run.repeat, [&] { add_up<<<blocks, kBlockSize>>>(device_bodies, n, device_sums); });
  CHECK(cudaFree(device_bodies));
  CHECK(cudaFree(device_sums));

  double sum = 0;  // the few sums of blocks are added on the host, in float64
  for (const float one : sums) sum += one;
  memory::WorstError error;
  error.add(sum, reference, reference);
  return memory::report("memory06_warps", run, 16.0 * n, time, error.worst, 16);
}
