#include <cstdio>
#include <cub/cub.cuh>
__global__ void stats(const int* x, int* out) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ typename Reduce::TempStorage temp;
  int v = x[threadIdx.x];
  int sum = Reduce(temp).Sum(v);
#ifdef FIXED
  __syncthreads();
#endif
  int largest = Reduce(temp).Reduce(v, cub::Max());  // BUG
  if (threadIdx.x == 0) out[0] = sum, out[1] = largest;
}
int main() {
  int h[64], r[2], *x, *out;
  for (int i = 0; i < 64; ++i) h[i] = i;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  stats<<<1, 64>>>(x, out);
  cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost);
  printf("%d %d\n", r[0], r[1]);
  cudaFree(x);
  cudaFree(out);
}
