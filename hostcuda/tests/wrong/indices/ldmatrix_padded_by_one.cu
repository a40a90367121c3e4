// A row of 17 halves is not aligned to 16 bytes, as ldmatrix requires.
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#ifdef FIXED
constexpr int kRow = 24;
#else
constexpr int kRow = 17;
#endif
__global__ void load(const __half* in, unsigned* out) {
  __shared__ __align__(16) __half tile[16][kRow];
  for (int i = threadIdx.x; i < 256; i += 32) tile[i / 16][i % 16] = in[i];
  __syncthreads();
  unsigned a, b, c, d;
  uint32_t p = __cvta_generic_to_shared(&tile[threadIdx.x % 16][threadIdx.x / 16 * 8]);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(p));  // BUG
  out[threadIdx.x] = a ^ b ^ c ^ d;
}
int main() {
  __half h[256], *in;
  unsigned *out, r[32];
  for (int i = 0; i < 256; ++i) h[i] = __float2half(i);
  cudaMalloc(&in, sizeof h);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  load<<<1, 32>>>(in, out);
  cudaError_t e = cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
  printf("%u %s\n", r[5], cudaGetErrorString(e));
  cudaFree(in);
  cudaFree(out);
}
