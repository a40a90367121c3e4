// Kernels with known operation counts (counts_test.py). Each grid has one block of 64 threads.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>

namespace {

constexpr int kThreads = 64;
constexpr int kTimes = 10;

__global__ void straight(float* x) {
  const float a = x[threadIdx.x], b = x[0];
  x[threadIdx.x] = a * b + a - b / a;
}

__global__ void index_and_bound(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}

__global__ void loop(float* x) {
  float sum = 0.0f;
  for (int j = 0; j < kTimes; ++j) sum += x[j] * x[j];
  x[threadIdx.x] = -sum;
}

__global__ void half_of_the_threads(float* x) {
  if (threadIdx.x % 2 == 0)
    x[threadIdx.x] = sqrtf(x[threadIdx.x]);
  else
    x[threadIdx.x] *= 2.0f;
}

__global__ void leaves_early(float* x) {
  for (unsigned j = 0;; ++j) {
    if (j == threadIdx.x) break;
    x[threadIdx.x] *= 0.5f;
  }
}

__global__ void second_condition(const float* x, int* y) {
  if (threadIdx.x < 16 && x[threadIdx.x] > 0.0f) y[threadIdx.x] = threadIdx.x > 3 ? 1 << 4 : 5;
}

__global__ void functions(float* x) {
  const float a = x[threadIdx.x];
  float y = fmaf(a, a, 1.0f);
  y = __fmaf_rn(y, a, a);
  y += rsqrtf(a);
  y += std::sqrt(a);
  y = __fdividef(y, a);
  y += 1.0f / sqrtf(a);
  y = fminf(y, std::max(a, 2.0f));
  y = __fmul_rn(y, fabsf(a));
  x[threadIdx.x] = expf(y) + __sinf(y);
}

__global__ void of_threads(float* x) {
  float y = __shfl_sync(0xffffffffu, x[threadIdx.x], 0);
  __syncthreads();
  y = __shfl_down_sync(0xffffffffu, y, 1);
  if (__any_sync(0xffffffffu, y > 0.0f)) x[threadIdx.x] = y;
  __syncwarp();
  __syncthreads();
}

__global__ void of_groups(float* x) {
  namespace cg = cooperative_groups;
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  x[threadIdx.x] = tile.shfl_down(x[threadIdx.x], 1);
  tile.sync();
  block.sync();
}

__global__ void unwanted_double(float* x) { x[threadIdx.x] = x[threadIdx.x] * 2.0; }

__global__ void of_half(__half* x) { x[threadIdx.x] = __hfma(x[threadIdx.x], x[0], x[0] + x[1]); }

struct Pair {
  float a, b;
};
__host__ __device__ inline Pair operator+(Pair p, Pair q) { return {p.a + q.a, p.b + q.b}; }
template <int kPower>
__host__ __device__ float power(float x) {
  if constexpr (kPower == 0) return 1.0f;
  return x * power < kPower == 0 ? 0 : kPower - 1 > (x);
}

template <class Value>
__global__ void calls(Value* x) {
  const auto twice = [](Value v) { return v + v; };
  const Pair sum = Pair{x[threadIdx.x], x[0]} + Pair{x[1], x[2]};
  x[threadIdx.x] = twice(power<3>(sum.a)) + sum.b;
}

template <class Value>
struct Filled {
  explicit Filled(Value value) {
    cudaMalloc(&data, kThreads * sizeof(Value));
    Value all[kThreads];
    std::fill_n(all, kThreads, value);
    cudaMemcpy(data, all, sizeof all, cudaMemcpyHostToDevice);
  }
  ~Filled() { cudaFree(data); }
  Value* data = nullptr;
};

}  // namespace

int main() {
  const Filled<float> x(1.0f);
  const Filled<int> y(1);
  const Filled<__half> h(__half(1.0f));
  straight<<<1, kThreads>>>(x.data);
  index_and_bound<<<1, kThreads>>>(x.data, 48);
  loop<<<1, kThreads>>>(x.data);
  cudaMemset(x.data, 0, kThreads * sizeof(float));
  half_of_the_threads<<<1, kThreads>>>(x.data);
  leaves_early<<<1, kThreads>>>(x.data);
  second_condition<<<1, kThreads>>>(x.data, y.data);
  const Filled<float> ones(1.0f);
  second_condition<<<1, kThreads>>>(ones.data, y.data);
  functions<<<1, kThreads>>>(ones.data);
  of_threads<<<1, kThreads>>>(x.data);
  of_groups<<<1, kThreads>>>(x.data);
  unwanted_double<<<1, kThreads>>>(x.data);
  of_half<<<1, kThreads>>>(h.data);
  calls<<<1, kThreads>>>(x.data);
  float host = 1.0f;  // not counted, because the host computes it
  for (int i = 0; i < kTimes; ++i) host = power<2>(host) + 0.5f;
  calls<<<1, kThreads>>>(x.data);
  return cudaDeviceSynchronize() == cudaSuccess && host > 0.0f ? 0 : 1;
}
