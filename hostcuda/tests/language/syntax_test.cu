// All forms that a launch or a shared declaration can have. The rewriter works on tokens, so it
// might fail on unusual forms. (nvcc compiles this file too.) The layout of these cases matters:
// clang-format off
#include <map>
#include <sstream>
#include <type_traits>

#include "support.h"

#define RUN(kernel) kernel<<<1, 32>>>
#define RUN_ONE_D(kernel, n, block, ...) kernel<<<((n) + (block)-1) / (block), block>>>(__VA_ARGS__)

namespace outer {
template <class T>
__global__ void add(T* p, T v) {
  p[threadIdx.x] += v;
}
namespace inner {
__global__ void add_default(float* p, float v = 1.f) { p[threadIdx.x] += v; }
}  // namespace inner
}  // namespace outer

__global__ void at_global_scope(float* p) { p[threadIdx.x] += 1; }

namespace {

template <int kN>
struct Count {
  static constexpr int value = kN;
};
template <class T>
struct Wrap : T {};
template <class T>
constexpr unsigned size(unsigned factor = 1) {
  return T::value * factor;
}

template <typename T, int kA, bool kB>
__global__ void __launch_bounds__(256) mixed(T* p, std::integral_constant<int, (kA > 3)>, T v) {
  extern __shared__ unsigned char raw[];
  T* s = reinterpret_cast<T*>(raw);
  s[threadIdx.x] = v;
  __syncthreads();
  p[threadIdx.x] += kB ? s[threadIdx.x] : 0;
}

static __global__ void two_shared(float* p) {
  __shared__ float a[8][33], b[32];
  __shared__ int count;
  volatile __shared__ float v[2];
  static __shared__ __align__(16) float4 vector[2];
  if (threadIdx.x == 0) {
    count = 0;
    v[0] = 0;
    vector[1].x = 0;
  }
  a[threadIdx.x % 8][threadIdx.x] = b[threadIdx.x] = 1;
  __syncthreads();
  atomicAdd(&count, 1);
  __syncthreads();
  p[threadIdx.x] += a[threadIdx.x % 8][threadIdx.x] + (count - 32) + v[0] + vector[1].x;
}

__global__ void two_dimensional(float* p) {
  extern __shared__ float m[][33];
  m[threadIdx.y][threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.y == 0) p[threadIdx.x] += m[1][threadIdx.x];
}

__global__ void nullable(float* p, const float* q) { p[threadIdx.x] += q ? *q : 1.f; }

extern __shared__ float at_file_scope[];
__shared__ float fixed_at_file_scope[32], other_at_file_scope;
namespace scope {
extern __shared__ __align__(16) unsigned char raw_at_file_scope[];
}

__global__ void uses_file_scope(float* p) {
  if (threadIdx.x == 0) other_at_file_scope = 1;
  fixed_at_file_scope[threadIdx.x] = at_file_scope[threadIdx.x] = 1;
  float* const dynamic = at_file_scope;
  float* const same = (float*)scope::raw_at_file_scope;
  __syncthreads();
  p[threadIdx.x] += fixed_at_file_scope[31 - threadIdx.x] * other_at_file_scope *
                    *(dynamic + threadIdx.x) * same[threadIdx.x];
}

__global__ void unusual_shared(float* p) {
  extern float __shared__ dynamic[];
  float __shared__ swapped[32];
  __shared__ struct {
    float a, b;
  } pair[32];
  struct Triple { int a; float b, c; };
  __shared__ Triple triple;
  alignas(32) __shared__ float aligned[32];
  if (threadIdx.x == 0) triple = {0, 0, 0};
  dynamic[threadIdx.x] = swapped[threadIdx.x] = aligned[threadIdx.x] = 0;
  pair[threadIdx.x].a = pair[threadIdx.x].b = 0.5f;
  __syncthreads();
  const unsigned i = 31 - threadIdx.x;
  p[threadIdx.x] += dynamic[i] + swapped[i] + aligned[i] + pair[i].a + pair[i].b + triple.b;
}

template <int kWidth>
__device__ float neighbour(float v) {
  __shared__ float s[kWidth];
  s[threadIdx.x] = v;
  __syncthreads();
  return s[(threadIdx.x + 1) % kWidth];
}
__global__ void uses_helper(float* p) { p[threadIdx.x] += neighbour<32>(1.f); }

__noinline__ __device__ float one() { return 1; }
__global__ void unrolled(float* p) {
  float sum = 0;
#pragma unroll 4
  for (int i = 0; i < 8; ++i) sum += one() / 8;
#pragma unroll
  for (int i = 0; i < 2; ++i) sum += 0;
#pragma unroll(2)
  for (int i = 0; i < 2; ++i) sum += 0;
  p[threadIdx.x] += sum;
}

[[maybe_unused]] void overloaded(int) {}
__global__ void overloaded(float* p) { p[threadIdx.x] += 1; }

struct Simulation {
  float* d;
  int n;
  float v;
  void step() {
    outer::add<<<1, n>>>(d, v);
    outer::add<float><<<1, n>>>(this->d, this->v);
  }
};

template <int kK, class T>
void launch_from_template(T* d) {
  outer::add<T><<<kK, 32>>>(d, T(1));
  mixed<T, (kK > 1 ? 5 : 2), true><<<dim3(1, 1), 32, 32 * sizeof(T)>>>(
      d, std::integral_constant<int, (kK > 1)>{}, T(1));
}

class Syntax : public testing::Test {
 protected:
  Syntax() : d(32, 0.f) {}
  void expect(float wanted) { EXPECT_EQ(std::vector<float>(32, wanted), d.get()); }
  DeviceArray<float> d;
};

TEST_F(Syntax, Names) {
  outer::inner::add_default<<<1, 32>>>(d);
  outer::inner::add_default<<<1, 32>>>(d, 2.f);
  outer::add<<<1, 32>>>(static_cast<float*>(d), 3.f);
  ::outer::add<float><<<dim3(1), dim3{32, 1, 1}, 0, 0>>>(d, 1);
  ::at_global_scope<<<1, 32>>>(d);
  overloaded<<<1, 32>>>(static_cast<float*>(d));
  expect(9);
}

TEST_F(Syntax, PointersToKernels) {
  void (*pointer)(float*) = two_shared;
  pointer<<<1, 32>>>(d);
  (*pointer)<<<1, 32>>>(d);
  (two_shared)<<<1, 32>>>(d);
  void (*table[2])(float*) = {two_shared, uses_helper};
  for (int i = 0; i < 2; i++) table[i]<<<1, 32>>>(d);
  table[0] <<< 1, 32 >>> (d);
  expect(6);
}

TEST_F(Syntax, SharedDeclarations) {
  two_shared<<<1, 32>>>(d);
  two_dimensional<<<1, dim3(32, 2), 2 * 33 * sizeof(float)>>>(d);
  uses_helper<<<1, 32>>>(d);
  unrolled<<<1, 32>>>(d);
  uses_file_scope<<<1, 32, 128>>>(d);
  unusual_shared<<<1, 32, 128>>>(d);
  expect(6);
}

TEST_F(Syntax, NullArguments) {
  nullable<<<1, 32>>>(d, 0);
  nullable<<<1, 32>>>(d, nullptr);
  nullable<<<1, 32>>>(d, NULL);
  expect(3);
}

TEST_F(Syntax, Macros) {
  RUN(uses_helper)(d);
  RUN(outer::add<float>)(d, 1);
  RUN_ONE_D(uses_helper, 20, 32, d);
  RUN_ONE_D(outer::inner::add_default,
            20,
            32,
            d,
            2.f);
  expect(5);
}

TEST_F(Syntax, InsideOtherCode) {
  launch_from_template<1>(static_cast<float*>(d));
  Simulation simulation{d, 32, 1.f};
  simulation.step();
  const int want = 5;
  if (want > 0)
    uses_helper<<<(want > 3 ? 1 : 2), 32>>>(d);
  else
    uses_helper<<<1, 32>>>(d);
  auto lambda = [&](int k) {
    for (int i = 0; i < k; ++i) uses_helper<<<1,
        32
        >>>(d);
  };
  lambda(2);
  want > 3 ? uses_helper<<<1, 32>>>(d) : uses_helper<<<2, 32>>>(d);
  expect(8);
}

TEST_F(Syntax, TemplatesAndShiftsInTheConfiguration) {
  uses_helper<<<1, size<Count<32>>(1)>>>(d);
  uses_helper<<<1, size<Wrap<Count<32>>>(1)>>>(d);
  uses_helper<<<size<Count<1>>(), Wrap<Wrap<Wrap<Count<32>>>>::value>>>(d);
  uses_helper<<<1, 1 << 5>>>(d);
  uses_helper<<<(4 >> 2), (64 >> 1)>>>(d);
  const int n = 5;
  uses_helper<<<n < 9 ? 1 : 2, 32>>>(d);
  uses_helper<<<1, (n > 9 ? 1 : 32), 0, nullptr>>>(d);
  expect(7);
}

TEST_F(Syntax, LooksLikeALaunchAndIsNone) {
  // kernel<<<1, 2>>>(x)
  /* kernel<<<1, 2>>>(x) __shared__ */
  const std::string text = "kernel<<<1,2>>>(x) __shared__ float s[2];";
  const std::string raw = R"(kernel<<<1>>>(y) // "quoted")";
  const char quote = '"', apostrophe = '\'';
  const std::vector<std::vector<std::map<int, int>>> nested(3);
  std::ostringstream stream;
  stream << text.size() << (1 << 2) << ' ' << (-256 >> 3) << quote << apostrophe << raw
         << 1'000 << nested.size();
  EXPECT_EQ("414 -32\"'kernel<<<1>>>(y) // \"quoted\"10003", stream.str());
}

#define LAUNCH uses_helper<<<1, 32>>>(d)

// Uses __builtin_LINE(), because __LINE__ is replaced before the launcher rewrites anything. The
// test's lines do not use macros of the test library, because such macros would add line markers.
TEST_F(Syntax, LinesAreKept) {
  const int begin = __builtin_LINE();
  LAUNCH;
  const int after_macro = __builtin_LINE();
  outer::inner
      ::add_default

      <<<1,
         32>>>(d);
  const int after_long_name = __builtin_LINE();
  RUN_ONE_D(uses_helper, 20,
            32, d);
  const int after_long_macro = __builtin_LINE();
  EXPECT_EQ(begin + 2, after_macro);
  EXPECT_EQ(begin + 8, after_long_name);
  EXPECT_EQ(begin + 11, after_long_macro);
}

struct Counters {
  int threads;
  int limit;
};
__global__ void count_below(Counters& counters, const int& limit) {
  if (threadIdx.x < static_cast<unsigned>(limit)) atomicAdd(&counters.threads, 1);
}

TEST_F(Syntax, ReferencesToManagedObjects) {
  Counters* counters = nullptr;
  ASSERT_EQ(cudaSuccess, cudaMallocManaged(&counters, sizeof *counters));
  *counters = {0, 10};
  count_below<<<2, 64>>>(*counters, counters->limit);
  ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
  EXPECT_EQ(20, counters->threads);
  cudaFree(counters);
}

extern __shared__ int everywhere[];

// The parameter is what the cast sees here, not the array at file scope.
__device__ int second_byte(volatile int* everywhere) {
  return reinterpret_cast<volatile char*>(everywhere)[1];
}
__device__ int local_array() {
  const char everywhere[8] = {0, 0, 0, 0, 7};
  return reinterpret_cast<const char*>( everywhere )[4];
}
__global__ void cast_shared(int* out) {
  everywhere[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  int other = 0x300;
  out[0] = static_cast<int>(reinterpret_cast<long long*>(everywhere)[1] >> 32);
  out[1] = second_byte(&other);
  out[2] = local_array();
}

TEST(SharedAtFileScope, IsCastToOtherTypes) {
  DeviceArray<int> out(3);
  cast_shared<<<1, 32, 128>>>(out);
  EXPECT_EQ((std::vector<int>{3, 3, 7}), out.get());
}

}  // namespace
