// Errata, activity map, section 4.4.1: the guard against threads past the last body encloses the
// barrier.
#include <cstdio>
#include <vector>

constexpr int kThreads = 256;

__global__ void sum_positions(const float* x, float* sums, int n) {
  __shared__ float tile[kThreads];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float sum = 0.0f;
    for (int block = 0; block < gridDim.x; ++block) {
      const int j = block * kThreads + threadIdx.x;
      tile[threadIdx.x] = j < n ? x[j] : 0.0f;
      __syncthreads();  // threads from n on never reach this barrier
      for (int k = 0; k < kThreads; ++k) sum += tile[k];
      __syncthreads();
    }
    sums[i] = sum;
  }
}

int main() {
  const int n = 542;
  std::vector<float> host(n, 1.0f);
  float *x = nullptr, *sums = nullptr;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sums, n * sizeof(float));
  cudaMemcpy(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sum_positions<<<(n + kThreads - 1) / kThreads, kThreads>>>(x, sums, n);
  cudaMemcpy(host.data(), sums, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(sums);
  std::printf("the first body sums %g, the last %g\n", host[0], host[n - 1]);
}
