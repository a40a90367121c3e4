#include <cstdio>
#include <cub/cub.cuh>
int main() {
  int h[64], r = 0, *x, *out;
  for (int& v : h) v = 2;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  void* temp = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(temp, bytes, x, out, 64);
#ifdef FIXED
  cudaMalloc(&temp, bytes);
#endif
  cub::DeviceReduce::Sum(temp, bytes, x, out, 64);
  cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);  // BUG
  printf("%d\n", r);
  cudaFree(temp);
  cudaFree(x);
  cudaFree(out);
}
