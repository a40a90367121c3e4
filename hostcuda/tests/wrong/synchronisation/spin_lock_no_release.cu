#include <cstdio>
__device__ int lock = 0;
__global__ void add(int* sum) {
  while (atomicCAS(&lock, 0, 1) != 0) {  // BUG
  }
  *sum += 1;
  __threadfence();
#ifdef FIXED
  atomicExch(&lock, 0);
#endif
}
int main() {
  int r = 0, *sum;
  cudaMalloc(&sum, sizeof r);
  cudaMemset(sum, 0, sizeof r);
  add<<<2, 1>>>(sum);
  cudaMemcpy(&r, sum, sizeof r, cudaMemcpyDeviceToHost);
  printf("%d\n", r);
  cudaFree(sum);
}
