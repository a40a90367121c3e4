#include <cstdio>
__global__ void sum(const int* x, int* out) {
  __shared__ int s[100];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
#ifdef FIXED
  for (int n = 100; n > 1;) {
    int half = (n + 1) / 2;
    if (t + half < n) s[t] += s[t + half];
    n = half;
    __syncthreads();
  }
#else
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];  // BUG
    __syncthreads();
  }
#endif
  if (t == 0) *out = s[0];
}
int main() {
  int h[100], r, *x, *out;
  for (int& v : h) v = 1;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof r);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  sum<<<1, 100>>>(x, out);
  cudaMemcpy(&r, out, sizeof r, cudaMemcpyDeviceToHost);
  printf("%d\n", r);
  cudaFree(x);
  cudaFree(out);
}
