// Errata, course program: it does not check that the file has as many bodies as k requires.
#include <cstdio>
#include <cstdlib>

struct Body {
  float x, v;
};

__global__ void move(Body* bodies, float dt, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) bodies[i].x += bodies[i].v * dt;
}

// Writes a file of bodies and reads it to its end, but does not check how many bodies it read.
void read_bodies(Body* bodies, int in_file, int wanted) {
  std::FILE* file = std::tmpfile();
  const Body body = {1.0f, 2.0f};
  for (int i = 0; i < in_file; ++i) std::fwrite(&body, sizeof body, 1, file);
  std::rewind(file);
  if (std::fread(bodies, sizeof body, wanted, file) == 0) std::abort();  // the values do not matter
  std::fclose(file);
}

int main() {
  const int k = 7, n = 2 << k, in_file = 128;  // the program needs 256 bodies
  Body* host = static_cast<Body*>(std::malloc(n * sizeof(Body)));
  read_bodies(host, in_file, n);
  Body* bodies = nullptr;
  cudaMalloc(&bodies, n * sizeof(Body));
  cudaMemcpy(bodies, host, n * sizeof(Body), cudaMemcpyHostToDevice);
  move<<<(n + 255) / 256, 256>>>(bodies, 0.01f, n);
  cudaMemcpy(host, bodies, n * sizeof(Body), cudaMemcpyDeviceToHost);
  cudaFree(bodies);
  std::printf("the last body is at %g\n", host[n - 1].x);
  std::free(host);
}
