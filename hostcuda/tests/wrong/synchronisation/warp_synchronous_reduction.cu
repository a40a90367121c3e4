#include <cstdio>
__global__ void reduce(const int* x, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    for (int d = 32; d > 0; d /= 2) {
      int v = t < d ? s[t + d] : 0;
#ifdef FIXED
      __syncwarp();
#endif
      if (t < d) s[t] += v;  // BUG
#ifdef FIXED
      __syncwarp();
#endif
    }
  }
  if (t == 0) *out = s[0];
}
int main() {
  int h[64], r, *x, *out;
  for (int& v : h) v = 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  reduce<<<1, 64>>>(x, out);
  cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
  printf("%d\n", r);
  cudaFree(x);
  cudaFree(out);
}
