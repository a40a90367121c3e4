#include <cstdio>
__global__ void total(const int* x, int* sum) { atomicAdd(sum, x[threadIdx.x]); }  // BUG
int main() {
  int *x, *sum;
  cudaMallocManaged(&x, 64 * sizeof(int));
  cudaMallocManaged(&sum, sizeof(int));
  for (int i = 0; i < 64; ++i) x[i] = i;
#ifdef FIXED
  *sum = 0;
#endif
  total<<<1, 64>>>(x, sum);
  cudaDeviceSynchronize();
  printf("%d\n", *sum);
  cudaFree(x);
  cudaFree(sum);
}
