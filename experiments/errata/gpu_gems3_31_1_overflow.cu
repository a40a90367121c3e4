// Errata, GPU Gems 3, listing 31-1: cubes the squared distance before it takes the square root.
#include <cassert>
#include <cmath>
#include <cstdio>

__device__ float factor(float squared) {
  const float cubed = squared * squared * squared;
  assert(std::isfinite(cubed));  // fails for distances above 2.6e6
  return 1.0f / sqrtf(cubed);
}

__device__ float factor_by_root(float squared) {
  const float inverse = rsqrtf(squared);
  return inverse * inverse * inverse;
}

__global__ void force(float distance, float* forces) {
  forces[0] = distance * factor_by_root(distance * distance);
  forces[1] = distance * factor(distance * distance);
}

int main() {
  float *device = nullptr, host[2] = {};
  cudaMalloc(&device, sizeof host);
  for (const float distance : {1e6f, 3e6f}) {
    force<<<1, 1>>>(distance, device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("distance %g: force %g (inverse root first), %g (as listed)\n", distance, host[0],
                host[1]);
  }
  cudaFree(device);
}
