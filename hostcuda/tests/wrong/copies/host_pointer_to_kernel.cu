#include <cstdio>
#include <vector>
__global__ void add(const int* a, int* b) { b[threadIdx.x] += a[threadIdx.x]; }  // BUG
int main() {
  std::vector<int> a(32, 1), b(32, 2);
  int *da, *db;
  cudaMalloc(&da, 128);
  cudaMalloc(&db, 128);
  cudaMemcpy(da, a.data(), 128, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), 128, cudaMemcpyHostToDevice);
#ifdef FIXED
  add<<<1, 32>>>(da, db);
#else
  add<<<1, 32>>>(a.data(), db);  // BUG
#endif
  cudaMemcpy(b.data(), db, 128, cudaMemcpyDeviceToHost);
  printf("%d\n", b[0]);
  cudaFree(da);
  cudaFree(db);
}
