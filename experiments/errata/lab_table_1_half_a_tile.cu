// Errata, lab report, table 1: a tile has twice as many bodies as the block has threads, but each
// thread loads only one.
#include <cstdio>
#include <vector>

constexpr int kThreads = 64;
constexpr int kTile = 2 * kThreads;

__global__ void sum_masses(const float* masses, float* sums, int n) {
  __shared__ float tile[kTile];
  const int i = threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < n / kTile; ++t) {
    if (i < kTile) tile[i] = masses[t * kTile + i];  // always true; no thread loads the second half
    __syncthreads();
    for (int j = 0; j < kTile; ++j) sum += tile[j];
    __syncthreads();
  }
  sums[i] = sum;
}

int main() {
  const int n = 2 * kTile;
  std::vector<float> host(n, 1.0f);
  float *masses = nullptr, *sums = nullptr;
  cudaMalloc(&masses, n * sizeof(float));
  cudaMalloc(&sums, kThreads * sizeof(float));
  cudaMemcpy(masses, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sum_masses<<<1, kThreads>>>(masses, sums, n);
  cudaMemcpy(host.data(), sums, kThreads * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(masses);
  cudaFree(sums);
  std::printf("body 0 feels %g of %d bodies\n", host[0], n);
}
