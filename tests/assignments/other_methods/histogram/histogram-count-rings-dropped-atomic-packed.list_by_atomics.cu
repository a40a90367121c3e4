// There is no map in shared memory, but a list of the bodies' rings, as bytes, which are written by
// atomic operations. Thread k counts the bytes that are k.
#include "assignment.h"
constexpr int kBlock = 256;
__global__ void rings(int count, const float4* position, unsigned* result) {
  __shared__ uint4 list[kBlock / 16];
  unsigned* words = reinterpret_cast<unsigned*>(list);
  const int t = threadIdx.x, i = blockIdx.x * kBlock + t;
  if (t < kBlock / 4) words[t] = ~0u;
  __syncthreads();
  if (i < count) {
    const float4 p = position[static_cast<size_t>(blockIdx.y) * count + i];
    const unsigned own =
        min(static_cast<int>(sqrtf(p.x * p.x + p.y * p.y) * (kCells / kExtent)), 255);
    atomicXor(&words[t / 4], (own ^ 255) << 8 * (t % 4));
  }
  __syncthreads();
  if (t >= kCells) return;
  unsigned found = 0;
  for (int k = 0; k < kBlock / 16; ++k) {
    const uint4 word = list[k];
    const unsigned four[4] = {word.x, word.y, word.z, word.w};
    for (int n = 0; n < 16; ++n) found += (four[n / 4] >> 8 * (n % 4) & 255) == t;
  }
  atomicAdd(&result[blockIdx.y * kCells + t], found);
}
void solve(const Bodies& b, unsigned* result) {
  cudaMemset(result, 0, sizeof(unsigned) * kCells * b.systems);
  rings<<<dim3((b.count + kBlock - 1) / kBlock, b.systems), kBlock>>>(b.count, b.position, result);
}
