#include <cstdio>
__global__ void read(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}
int main() {
  float h[256], *x, *out;
  for (int i = 0; i < 256; ++i) h[i] = i;
  cudaMalloc(&x, sizeof h);
  cudaMalloc(&out, sizeof h);
  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = x;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
#ifdef FIXED
  r.res.linear.sizeInBytes = sizeof h;
#else
  r.res.linear.sizeInBytes = 256;
#endif
  cudaTextureDesc d = {};
  d.readMode = cudaReadModeElementType;
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &r, &d, nullptr);  // BUG
  read<<<1, 256>>>(t, out);
  cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
  printf("%f\n", h[200]);
  cudaDestroyTextureObject(t);
  cudaFree(x);
  cudaFree(out);
}
