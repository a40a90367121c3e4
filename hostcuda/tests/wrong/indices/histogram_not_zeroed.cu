#include <cstdio>
__global__ void count(const int* values, int n, int* even) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && values[i] % 2 == 0) atomicAdd(even, 1);  // BUG
}
int main() {
  int h[256], *values, *even, result;
  for (int i = 0; i < 256; ++i) h[i] = i;
  cudaMalloc(&values, sizeof h);
  cudaMalloc(&even, sizeof(int));
  cudaMemcpy(values, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef FIXED
  cudaMemset(even, 0, sizeof(int));
#endif
  count<<<2, 128>>>(values, 256, even);
  cudaMemcpy(&result, even, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d\n", result);
  cudaFree(values);
  cudaFree(even);
}
