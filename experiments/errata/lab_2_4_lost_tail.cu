// Errata, lab report, section 2.4: the loop visits n / kTile tiles, rounded down, and contains a
// barrier although some threads do not enter the loop.
#include <cstdio>
#include <vector>

constexpr int kTile = 64;

__global__ void sum_masses(const float* masses, float* sums, int n) {
  __shared__ float tile[kTile];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float sum = 0.0f;
    for (int t = 0; t < n / kTile; ++t) {  // the last n % kTile bodies are in no tile
      if (threadIdx.x < kTile) tile[threadIdx.x] = masses[t * kTile + threadIdx.x];
      __syncthreads();  // threads from n on do not reach this barrier
      for (int j = 0; j < kTile; ++j) sum += tile[j];
      __syncthreads();
    }
    sums[i] = sum;
  }
}

int main() {
  const int n = 100;
  std::vector<float> host(n, 1.0f);
  float *masses = nullptr, *sums = nullptr;
  cudaMalloc(&masses, n * sizeof(float));
  cudaMalloc(&sums, n * sizeof(float));
  cudaMemcpy(masses, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  sum_masses<<<1, 128>>>(masses, sums, n);
  cudaMemcpy(host.data(), sums, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(masses);
  cudaFree(sums);
  std::printf("body 0 feels %g of %d bodies\n", host[0], n);
}
