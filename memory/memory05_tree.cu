// memory05_tree -- the sum of m r^2 over all bodies: a block adds the terms of its bodies in pairs.
// Parent: memory02_arrays. Changed: the task; threads need each other's results, in shared memory.
// Build: nvcc -O3 -std=c++20 -arch=native memory/memory05_tree.cu -o memory05_tree
// Without a GPU: ./nbody build memory05_tree, or hostcuda/bin/nvcc instead of nvcc
#include "program.h"

using memory::Body;

constexpr int kBlockSize = 256;

__device__ float moment(const float4& body) {
  return body.w * (body.x * body.x + body.y * body.y + body.z * body.z);
}

// Every thread takes one body. In round k, every 2^(k+1)-th thread adds the sum of the thread whose
// index is 2^k larger.
__global__ void add_up(const float4* bodies, int n, float* sums) {
  __shared__ float partial[kBlockSize];
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  partial[threadIdx.x] = i < n ? moment(bodies[i]) : 0.0f;
  for (int distance = 1; distance < kBlockSize; distance *= 2) {
    __syncthreads();  // the sums of the previous round are complete
    if (threadIdx.x % (2 * distance) == 0) {
      partial[threadIdx.x] += partial[threadIdx.x + distance];
    }
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
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

  const int blocks = (n - 1) / kBlockSize + 1;
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
  return memory::report("memory05_tree", run, 16.0 * n, time, error.worst, 16);
}
