// The width of cudaMemcpy2D is in bytes.
#include <cstdio>
#include <vector>
__global__ void twice(float* a, size_t pitch, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < w) {
    float* row = (float*)((char*)a + y * pitch);
    row[x] *= 2;
  }
}
int main() {
  const int w = 100, h = 20;
  std::vector<float> m(w * h, 1.0f);
  float* d;
  size_t pitch;
  cudaMallocPitch(&d, &pitch, w * sizeof(float), h);
#ifdef FIXED
  cudaMemcpy2D(d, pitch, m.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice);
#else
  cudaMemcpy2D(d, pitch, m.data(), w * sizeof(float), w, h, cudaMemcpyHostToDevice);  // BUG
#endif
  twice<<<dim3((w + 31) / 32, h), 32>>>(d, pitch, w, h);
  cudaMemcpy2D(m.data(), w * sizeof(float), d, pitch, w * sizeof(float), h, cudaMemcpyDeviceToHost);
  printf("%f\n", m[99]);
  cudaFree(d);
}
