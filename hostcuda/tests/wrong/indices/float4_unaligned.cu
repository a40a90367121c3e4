#include <cstdio>
__global__ void sum(const float* x, float* out, int offset) {
#ifdef FIXED
  const float* p = x + 4 * threadIdx.x + offset;
  float4 v = make_float4(p[0], p[1], p[2], p[3]);
#else
  float4 v = *reinterpret_cast<const float4*>(x + 4 * threadIdx.x + offset);  // BUG
#endif
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
int main() {
  float h[132], r[32], *x, *out;
  for (float& f : h) f = 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<1, 32>>>(x, out, 1);
  cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
  printf("%f\n", r[0]);
  cudaFree(x);
  cudaFree(out);
}
