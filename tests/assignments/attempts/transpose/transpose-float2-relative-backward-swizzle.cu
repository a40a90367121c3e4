#include "assignment.h"

#define S 32

// 1024 threads, one element each.
__global__ void flip(const float2* a, float2* b, int ns, int nb) {
  __shared__ float2 buf[S * S];
  int tx = threadIdx.x % S, ty = threadIdx.x / S;
  int body = blockIdx.x * S + tx;
  int sys = blockIdx.y * S + ty;
  if (body < nb && sys < ns) {
    float2 e = a[(size_t)sys * nb + body];
    float2 zero = a[(size_t)sys * nb];
    buf[ty * S + (tx ^ ty)] = make_float2(e.x - zero.x, e.y - zero.y);
  }
  __syncthreads();
  body = blockIdx.x * S + ty;
  sys = blockIdx.y * S + tx;
  if (body >= nb || sys >= ns) return;
  b[(size_t)(nb - 1 - body) * ns + sys] = buf[tx * S + (ty ^ tx)];
}

void solve(const Table& table, float2* result) {
  dim3 blocks((table.count + S - 1) / S, (table.systems + S - 1) / S);
  flip<<<blocks, S * S>>>(table.element, result, table.systems, table.count);
}
