#include <cstdio>
const int w = 50, h = 20;
__global__ void fill(char* p, size_t pitch) {
  int x = threadIdx.x, y = blockIdx.x;
#ifdef FIXED
  float* row = (float*)(p + y * pitch);
#else
  (void)pitch;
  float* row = (float*)p + y * w;
#endif
  row[x] = x + y;  // BUG
}
int main() {
  static float out[h][w];
  char* p;
  size_t pitch;
  cudaMallocPitch((void**)&p, &pitch, w * sizeof(float), h);
  fill<<<h, w>>>(p, pitch);  // BUG
  cudaMemcpy2D(out, w * sizeof(float), p, pitch, w * sizeof(float), h,
               cudaMemcpyDeviceToHost);  // BUG
  printf("%f\n", out[10][10]);
  cudaFree(p);
}
