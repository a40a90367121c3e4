#include <cstdio>
__global__ void blur(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
#ifdef FIXED
  float left = i > 0 ? in[i - 1] : in[i];
#else
  float left = in[i - 1];  // BUG
#endif
  float right = i + 1 < n ? in[i + 1] : in[i];
  out[i] = (left + in[i] + right) / 3;
}
int main() {
  float h[512], *in, *out;
  for (int i = 0; i < 512; ++i) h[i] = i;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  blur<<<4, 128>>>(in, out, 512);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[3]);
  cudaFree(in);
  cudaFree(out);
}
