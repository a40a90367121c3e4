#include <cstdio>
__global__ void stencil(const int* in, int* out) {
#ifdef FIXED
  __shared__ int s[64 + 2];
#else
  __shared__ int s[64];
#endif
  int t = threadIdx.x;
  s[t + 1] = in[t];  // BUG
  if (t == 0) s[0] = 0;
  if (t == 63) s[65] = 0;  // BUG
  __syncthreads();
  out[t] = s[t] + s[t + 1] + s[t + 2];  // BUG
}
int main() {
  int h[64], *in, *out;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  stencil<<<1, 64>>>(in, out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[1]);
  cudaFree(in);
  cudaFree(out);
}
