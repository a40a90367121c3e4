#include <cstdio>
__global__ void first(int* x) { x[threadIdx.x] = 1; }
__global__ void second(int* x) { x[threadIdx.x] *= 2; }
int main() {
  int *x, h[32];
  cudaMalloc(&x, sizeof h);
  cudaGraph_t g;
  cudaGraphCreate(&g, 0);
  cudaGraphNode_t a, b;
  void* args[] = {&x};
  cudaKernelNodeParams p = {};
  p.func = (void*)first;
  p.gridDim = dim3(1);
  p.blockDim = dim3(32);
  p.kernelParams = args;
  cudaGraphAddKernelNode(&a, g, nullptr, 0, &p);
  p.func = (void*)second;
#ifdef FIXED
  cudaGraphAddKernelNode(&b, g, &a, 1, &p);
#else
  cudaGraphAddKernelNode(&b, g, nullptr, 0, &p);  // BUG
#endif
  cudaGraphExec_t e;
  cudaGraphInstantiate(&e, g, 0);
  cudaGraphLaunch(e, 0);
  cudaDeviceSynchronize();
  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d\n", h[0]);
  cudaGraphExecDestroy(e);
  cudaGraphDestroy(g);
  cudaFree(x);
}
