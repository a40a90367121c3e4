#include <cstdio>
__global__ void scan(int* data) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = data[t];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int v = t >= d ? s[t - d] : 0;  // BUG
#ifdef FIXED
    __syncthreads();
#endif
    s[t] += v;  // BUG
    __syncthreads();
  }
  data[t] = s[t];
}
int main() {
  int h[128], *d;
  for (int& x : h) x = 1;
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  scan<<<1, 128>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[127]);
  cudaFree(d);
}
