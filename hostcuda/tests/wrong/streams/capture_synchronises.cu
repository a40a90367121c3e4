#include <cstdio>
__global__ void k(int* x) { x[threadIdx.x] += 1; }
int main() {
  int *x, h[32];
  cudaMalloc(&x, sizeof h);
  cudaMemset(x, 0, sizeof h);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  k<<<1, 32, 0, s>>>(x);
#ifndef FIXED
  cudaStreamSynchronize(s);  // BUG
#endif
  k<<<1, 32, 0, s>>>(x);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&e, g, 0);
  cudaGraphLaunch(e, s);
  cudaStreamSynchronize(s);
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaGraphExecDestroy(e);
  cudaGraphDestroy(g);
  cudaStreamDestroy(s);
  cudaFree(x);
}
