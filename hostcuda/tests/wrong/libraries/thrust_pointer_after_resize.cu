#include <thrust/device_vector.h>

#include <cstdio>
__global__ void inc(int* p) { p[threadIdx.x] += 1; }  // BUG
int main() {
  thrust::device_vector<int> v(32, 5);
#ifdef FIXED
  v.resize(1000);
  int* p = thrust::raw_pointer_cast(v.data());
#else
  int* p = thrust::raw_pointer_cast(v.data());
  v.resize(1000);
#endif
  inc<<<1, 32>>>(p);  // BUG
  cudaDeviceSynchronize();
  int first = v[0];
  printf("%d\n", first);
}
