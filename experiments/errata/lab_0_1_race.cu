// Errata, lab report, section 0.1: a thread moves its body while others still read its position.
#include <cstdio>
#include <vector>

struct Body {
  float x, v;
};

__device__ float pull(const Body* bodies, int n, int i) {
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float d = bodies[j].x - bodies[i].x;
    sum += d / (d * d * sqrtf(d * d + 1.0f) + 1.0f);
  }
  return sum;
}

__global__ void advance(Body* bodies, int n, int steps, float dt) {
  for (int step = 0; step < steps; ++step) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      bodies[i].v += pull(bodies, n, i) * dt;
      // A barrier is missing here. All forces of this step must be computed before any body moves.
      //
      bodies[i].x += bodies[i].v * dt;
    }
    __syncthreads();
  }
}

int main() {
  const int n = 64;
  std::vector<Body> host(n);
  for (int i = 0; i < n; ++i) host[i] = {static_cast<float>(i), 0.0f};
  Body* bodies = nullptr;
  cudaMalloc(&bodies, n * sizeof(Body));
  cudaMemcpy(bodies, host.data(), n * sizeof(Body), cudaMemcpyHostToDevice);
  advance<<<1, 32>>>(bodies, n, 2, 0.1f);
  cudaMemcpy(host.data(), bodies, n * sizeof(Body), cudaMemcpyDeviceToHost);
  cudaFree(bodies);
  std::printf("x of body 0: %g\n", host[0].x);
}
