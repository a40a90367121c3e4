#include <cstdio>
struct Vector {
  int n;
  float* data;
};
__global__ void add(Vector* v) { v->data[threadIdx.x] += 1; }  // BUG
int main() {
  float values[32] = {};
  Vector h{32, values}, *d;
#ifdef FIXED
  cudaMalloc(&h.data, sizeof values);
  cudaMemcpy(h.data, values, sizeof values, cudaMemcpyHostToDevice);
#endif
  cudaMalloc(&d, sizeof h);
  cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
  add<<<1, 32>>>(d);
  cudaDeviceSynchronize();
#ifdef FIXED
  cudaMemcpy(values, h.data, sizeof values, cudaMemcpyDeviceToHost);
  cudaFree(h.data);
#endif
  printf("%f\n", values[0]);
  cudaFree(d);
}
