#include <cstdio>
__global__ void work(float* scratch, float* out) {
  scratch[threadIdx.x] = 1;
  out[threadIdx.x] = scratch[threadIdx.x];
}
int main() {
  float h[32], *out;
  cudaMalloc(&out, sizeof h);
  for (int i = 0; i < 10; ++i) {
    float* scratch;
    cudaMalloc(&scratch, 4096);  // BUG
    work<<<1, 32>>>(scratch, out);
#ifdef FIXED
    cudaFree(scratch);
#endif
  }
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[0]);
  cudaFree(out);
}
