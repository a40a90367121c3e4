// The module that the tests load: kernels with parameters of many kinds, and variables.
#include "parameters.h"

__device__ int counter = 5;
__constant__ float factors[4];
__managed__ int total;

namespace counters {
__device__ long long second[3];
}

// nvcc gives a static variable the name that it has in the source.
static __constant__ int hidden[2] = {3, 4};

__shared__ int at_file_scope[32];

extern "C" __global__ void add(const float* a, float* b, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) b[i] += a[i];
}

extern "C" __global__ void store_parameters(double* out, char c, double d, Pair pair, short s,
                                            Large large, bool flag = true) {
  out[0] = c;
  out[1] = d;
  out[2] = pair.x;
  out[3] = pair.y;
  out[4] = s;
  out[5] = large.values[8];
  out[6] = flag;
}

extern "C" __global__ void __launch_bounds__(64) reverse(int* data) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void rotate_in_shared(int* data) {
  extern __shared__ int dynamic[];
  at_file_scope[threadIdx.x] = data[threadIdx.x];
  dynamic[threadIdx.x] = 1000;
  __syncthreads();
  const unsigned next = (threadIdx.x + 1) % blockDim.x;
  data[threadIdx.x] = at_file_scope[next] + dynamic[next];
}

extern "C" __global__ void count(int* out) {
  atomicAdd(&counter, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = counter;
    out[1] = static_cast<int>(factors[3]) + hidden[1];
    counters::second[2] = counter;
    total = counter;
  }
}

// C++ functions, whose names in the module contain their parameters.
namespace shapes {
__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }
__global__ void fill(float* out, float value) { out[threadIdx.x] = value; }
}  // namespace shapes

static __global__ void fill_static(int* out) { out[threadIdx.x] = -7; }

template <class T>
__global__ void twice(T* out) {
  __shared__ T tile[32];
  tile[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = 2 * tile[threadIdx.x];
}
template __global__ void twice<int>(int* out);

extern "C" __global__ void read_texture(cudaTextureObject_t texture, float* out) {
  out[threadIdx.x] = tex2D<float>(texture, static_cast<float>(threadIdx.x) + 0.5f, 1.5f);
}

extern "C" __global__ void where(const float* rows, float* out, unsigned pitch) {
  const char* row = reinterpret_cast<const char*>(rows) + threadIdx.y * pitch;
  out[threadIdx.y * blockDim.x + threadIdx.x] = reinterpret_cast<const float*>(row)[threadIdx.x];
}
