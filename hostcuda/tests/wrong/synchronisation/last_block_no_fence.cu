#include <cstdio>
__device__ unsigned done = 0;
__global__ void sum(const int* x, int* parts, int* total) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    int s = 0;
    for (int i = 0; i < 32; ++i) s += x[blockIdx.x * 32 + i];
    parts[blockIdx.x] = s;  // BUG
#ifdef FIXED
    __threadfence();
#endif
    last = atomicAdd(&done, 1u) == gridDim.x - 1;  // BUG
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
#ifdef FIXED
    __threadfence();
#endif
    int s = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) s += parts[b];  // BUG
    *total = s;
  }
}
int main() {
  int h[256], r, *x, *parts, *total;
  for (int& v : h) v = 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&parts, 8 * sizeof(int));
  cudaMalloc(&total, sizeof(int));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<8, 32>>>(x, parts, total);
  cudaMemcpy(&r, total, sizeof r, cudaMemcpyDeviceToHost);
  printf("%d\n", r);
  cudaFree(x);
  cudaFree(parts);
  cudaFree(total);
}
