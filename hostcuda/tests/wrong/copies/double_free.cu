#include <cstdio>
struct Buffer {
  float* p = nullptr;
  explicit Buffer(int n) { cudaMalloc(&p, n * sizeof(float)); }
#ifdef FIXED
  Buffer(const Buffer&) = delete;
#endif
  ~Buffer() { cudaFree(p); }  // BUG
};
__global__ void set(float* p) { p[threadIdx.x] = 1; }
#ifdef FIXED
void fill(const Buffer& b) { set<<<1, 32>>>(b.p); }
#else
void fill(Buffer b) { set<<<1, 32>>>(b.p); }
#endif
int main() {
  Buffer b(32);
  fill(b);
  cudaDeviceSynchronize();
  printf("done\n");
}
