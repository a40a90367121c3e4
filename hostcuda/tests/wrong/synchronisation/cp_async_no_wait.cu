// The tile is read before the asynchronous copy has been awaited.
#include <cuda_pipeline.h>

#include <cstdio>
__global__ void square(const float4* in, float4* out, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(float4));
  __pipeline_commit();
#ifdef FIXED
  __pipeline_wait_prior(0);
#endif
  if (i < n) {
    float4 v = tile[threadIdx.x];  // BUG
    out[i] = make_float4(v.x * v.x, v.y * v.y, v.z * v.z, v.w * v.w);
  }
}
int main() {
  const int n = 1000;
  static float4 h[n];
  for (int i = 0; i < n; ++i) h[i] = make_float4(i, 1, 2, 3);
  float4 *in, *out;
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  square<<<(n + 127) / 128, 128>>>(in, out, n);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[10].x);
  cudaFree(in);
  cudaFree(out);
}
