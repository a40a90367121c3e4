#include <cstdio>
__constant__ float weights[5];
__global__ void filter(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 2 || i >= n - 2) return;
  float sum = 0;
  for (int k = -2; k <= 2; ++k) sum += weights[k + 2] * in[i + k];  // BUG
  out[i] = sum;
}
int main() {
  float h[128], w[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f}, *in, *out;
  for (float& x : h) x = 1;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemset(out, 0, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef FIXED
  cudaMemcpyToSymbol(weights, w, sizeof w);
#else
  (void)w;
#endif
  filter<<<1, 128>>>(in, out, 128);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[64]);
  cudaFree(in);
  cudaFree(out);
}
