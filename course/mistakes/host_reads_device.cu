// The host reads through a pointer to device memory.
#include <cstdio>

__global__ void answer(float* x) { *x = 42.0f; }

int main() {
  float* x = nullptr;
  cudaMalloc(&x, sizeof(float));
  answer<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  std::printf("%g\n", *x);
  cudaFree(x);
}
