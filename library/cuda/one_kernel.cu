// Computes the forces of a few thousand bodies on each other, with the sums of step 13's kernel.
// That kernel takes many time steps, with grid barriers between them; here there is only one step.
#include <cooperative_groups.h>

#include <algorithm>
#include <cfloat>
#include <mutex>

#include "library/cuda/mailbox.h"
#include "library/cuda/sums.h"
#include "nbody/float3.h"
#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "small_systems/in_shared_memory.h"

// The step's loads bypass L1, because other SMs write positions while its kernel runs. Here no SM
// writes positions, and they may be in shared memory.
#define __ldcg(position) (*(position))
#define main static program_of_step  // a function that nobody calls
#include "step13_persistent/nbody.cu"
#undef main
#undef __ldcg

namespace {

// Adds up the sums of all warps for the body of a thread.
template <int kWarps, int kGroup>
__device__ float3 sum_of_warps(const float4 (&warp_a)[kWarps][kGroup]) {
  float3 a{};
  for (int warp = 0; warp < kWarps; ++warp) {
    const float4 sum = warp_a[warp][threadIdx.x];
    a.x += sum.x;
    a.y += sum.y;
    a.z += sum.z;
  }
  return a;
}

// Works like a time step of advance(), for one system. A block has one group of bodies.
template <int K, int kLanes, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, 1)
    accelerations(const Position* positions, int n, float softening_squared,
                  const int* __restrict__ order, nbody::library::Output<float> out) {
  constexpr int kGroup = K * kLanes;
  __shared__ float4 warp_a[kWarps][kGroup];
  const int first_i = blockIdx.x * kGroup, i = first_i + threadIdx.x;
  partial_accelerations<K, kLanes, kWarps>(positions, warp_a, first_i, n, softening_squared);
  __syncthreads();  // no thread may read the sums before all warps have written theirs
  if (threadIdx.x >= kGroup || i >= n || !is_stored(out)) return;
  const float3 a = sum_of_warps(warp_a);
  const auto at = static_cast<size_t>(order != nullptr ? order[i] : i);
  nbody::library::store_vector(out.accelerations, at, out.force, a.x, a.y, a.z);
}

// ---- one kernel for the whole call --------------------------------------------------------------

// The values that all threads of a block need.
struct Setup {
  int length, mass, wrong;  // bits of the largest magnitudes; the first error, or kNone
  float position_factor[2], mass_factor[2];
  float softening_squared;
  int length_exponent, mass_exponent;
  __device__ double force() const {  // unit of accelerations
    return ldexp(ldexp(1.0, mass_exponent), -2 * length_exponent);
  }
};
constexpr int kNone = 1 << 20;

// Multiplying by both factors divides by 2^exponent. A single factor might overflow or underflow.
__device__ void set_factors(float (&factor)[2], int exponent) {
  const int bounded = min(max(-exponent, -250), 250), half = bounded / 2;
  factor[0] = ldexpf(1.0f, half);
  factor[1] = ldexpf(1.0f, bounded - half);
}

// Returns the exponent of a unit, which unit_of() would choose. An infinite magnitude is reported
// as an error; ilogb() of infinity is INT_MAX.
__device__ int exponent_of(double largest) {
  return largest > 0 && isfinite(largest) ? ilogb(largest) + 1 : 0;
}
// Threads of different warps choose the units at the same time.
__device__ void choose_length(Setup& setup, double softening, bool is_checked) {
  const auto largest = static_cast<double>(__int_as_float(setup.length));
  const int length = is_checked ? exponent_of(fmax(largest, softening)) : 0;
  set_factors(setup.position_factor, length);
  const double scaled = fmax(ldexp(softening, -length), 1e-12);  // kLeastSoftening<float>
  setup.softening_squared = static_cast<float>(scaled * scaled);
  setup.length_exponent = length;
}
__device__ void choose_mass(Setup& setup, bool is_checked) {
  const int mass = is_checked ? exponent_of(static_cast<double>(__int_as_float(setup.mass))) : 0;
  set_factors(setup.mass_factor, mass);
  setup.mass_exponent = mass;
}

// Copies the bodies to shared memory, and finds the largest magnitudes and the first error.
template <int kBlock>
__device__ void load_and_examine(const float* __restrict__ positions,
                                 const float* __restrict__ masses, int n, Position* bodies,
                                 Setup& setup, bool is_checked) {
  float length = 0, mass = 0;
  int wrong = kNone;
  constexpr int kAtOnce = 6;  // loads that do not wait for each other
  for (int first = threadIdx.x; first < n; first += kAtOnce * kBlock) {
    Position body[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const int j = min(first + k * kBlock, n - 1);  // examining the last body again does no harm
      body[k] =
          make_float4(positions[3 * j], positions[3 * j + 1], positions[3 * j + 2], masses[j]);
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      const float x = body[k].x, y = body[k].y, z = body[k].z, m = body[k].w;
      const int j = first + k * kBlock;
      if (j < n) bodies[j] = body[k];
      const auto is_finite = [](float value) { return fabsf(value) <= FLT_MAX; };
      if (!(m >= 0 && m <= FLT_MAX)) wrong = min(wrong, static_cast<int>(NBODY_BAD_MASS));
      if (!(is_finite(x) && is_finite(y) && is_finite(z)))
        wrong = min(wrong, static_cast<int>(NBODY_BAD_POSITION));
      length = fmaxf(length, fmaxf(fabsf(x), fmaxf(fabsf(y), fabsf(z)))), mass = fmaxf(mass, m);
    }
  }
  if (!is_checked) return;
  // Numbers that are not negative have the same order as their bits.
  int bits[2] = {__float_as_int(length), __float_as_int(mass)};
  for (int apart = 16; apart > 0; apart /= 2) {
    bits[0] = max(bits[0], __shfl_xor_sync(0xffffffff, bits[0], apart));
    bits[1] = max(bits[1], __shfl_xor_sync(0xffffffff, bits[1], apart));
    wrong = min(wrong, __shfl_xor_sync(0xffffffff, wrong, apart));
  }
  if (threadIdx.x % 32 > 0) return;
  atomicMax(&setup.length, bits[0]);
  atomicMax(&setup.mass, bits[1]);
  atomicMin(&setup.wrong, wrong);
}

// Works like accelerations(), but reads the arrays of a call. Each block examines and scales all
// bodies, so it needs to know nothing from other blocks. The first block reports what it found.
template <int K, int kLanes, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, 1)
    accelerations_of_call(const float* __restrict__ positions, const float* __restrict__ masses,
                          int n, double softening, float* __restrict__ out,
                          nbody::library::Facts* facts) {
  constexpr int kGroup = K * kLanes, kBlock = 32 * kWarps;
  extern __shared__ Position bodies[];
  __shared__ float4 warp_a[kWarps][kGroup];
  __shared__ Setup setup;
  const bool is_checked = facts != nullptr;
  if (threadIdx.x == 0) setup.length = 0, setup.mass = 0, setup.wrong = kNone;
  __syncthreads();  // no thread may add its findings before the setup is cleared
  load_and_examine<kBlock>(positions, masses, n, bodies, setup, is_checked);
  __syncthreads();  // all findings are there
  // The host needs only this one number, so no fence delays the block.
  if (is_checked && blockIdx.x == 0 && threadIdx.x == 64)
    *static_cast<volatile int*>(&facts->wrong) = setup.wrong == kNone ? NBODY_OK : setup.wrong;
  if (threadIdx.x == 0) choose_length(setup, softening, is_checked);
  if (threadIdx.x == 32) choose_mass(setup, is_checked);
  if (setup.wrong != kNone) return;
  __syncthreads();  // the units are there
  if (is_checked)
    for (int j = threadIdx.x; j < n; j += kBlock) {
      const Position body = bodies[j];
      const float a = setup.position_factor[0], b = setup.position_factor[1];
      bodies[j] = make_float4(body.x * a * b, body.y * a * b, body.z * a * b,
                              body.w * setup.mass_factor[0] * setup.mass_factor[1]);
    }
  __syncthreads();  // no thread may read a body before it is scaled
  const int first_i = blockIdx.x * kGroup, i = first_i + threadIdx.x;
  partial_accelerations<K, kLanes, kWarps>(bodies, warp_a, first_i, n, setup.softening_squared);
  __syncthreads();  // no thread may read the sums before all warps have written theirs
  if (threadIdx.x >= kGroup || i >= n) return;
  const float3 a = sum_of_warps(warp_a);
  nbody::library::store_vector(out, i, {setup.force(), 1}, a.x, a.y, a.z);
}

template <int K, int kLanes, int kWarps>
struct Kernel {
  static bool is(const Shape& shape) { return shape.group == K * kLanes && shape.warps == kWarps; }
  static void launch_if(const Shape& shape, const nbody::library::Bodies<float>& bodies,
                        float softening_squared, const nbody::library::Output<float>& out,
                        cudaStream_t stream) {
    if (!is(shape)) return;
    accelerations<K, kLanes, kWarps><<<(bodies.n - 1) / shape.group + 1, 32 * kWarps, 0, stream>>>(
        bodies.positions, bodies.n, softening_squared, bodies.order, out);
  }
  static void launch_if(const Shape& shape, const float* positions, const float* masses, int n,
                        double softening, float* out, nbody::library::Facts* facts,
                        cudaStream_t stream) {
    if (!is(shape)) return;
    accelerations_of_call<K, kLanes, kWarps>
        <<<(n - 1) / shape.group + 1, 32 * kWarps, n * sizeof(Position), stream>>>(
            positions, masses, n, softening, out, facts);
  }
  // Sets `room` to the number of bodies that a block has room for; the kernel may use that room.
  static void find_room_if(const Shape& shape, int& room) {
    if (!is(shape)) return;
    const auto kernel = accelerations_of_call<K, kLanes, kWarps>;
    cudaFuncAttributes attributes{};
    CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    const int bytes = nbody::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) -
                      static_cast<int>(attributes.sharedSizeBytes);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    room = bytes / static_cast<int>(sizeof(Position));
  }
  static Shape shape() { return kShape<K, kLanes, kWarps>; }
};

// The kernels for all shapes that the step uses.
template <class... Kernels>
struct AllKernels {
  static std::vector<Shape> shapes() { return {Kernels::shape()...}; }
  static void launch(const Shape& shape, const auto&... arguments) {
    (Kernels::launch_if(shape, arguments...), ...);
  }
  static int room(const Shape& shape) {
    int room = 0;
    (Kernels::find_room_if(shape, room), ...);
    return room;
  }
};
using All = AllKernels<Kernel<8, 16, 12>, Kernel<4, 32, 8>, Kernel<4, 16, 12>, Kernel<2, 16, 12>,
                       Kernel<2, 8, 8>, Kernel<1, 8, 8>>;

struct Choice {
  int device = -1, n = 0;
  Shape shape = {};
  int room = 0;  // bodies that fit into the shared memory of a block
};

// Returns the shape for n bodies. Each thread remembers the last shape, because choosing one takes
// longer than a small kernel.
const Choice& choice_for(int n) {
  thread_local Choice last;
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  if (last.device == device && last.n == n) return last;
  static std::mutex mutex;  // shape_for() changes tuning(), which all threads share
  const std::lock_guard lock(mutex);
  last.shape = shape_for(1, n, All::shapes());
  last.room = All::room(last.shape);
  last.device = device, last.n = n;
  return last;
}

}  // namespace

namespace nbody::library {

void sum_in_one_kernel(const Bodies<float>& bodies, float softening_squared,
                       const Output<float>& out, cudaStream_t stream) {
  All::launch(choice_for(bodies.n).shape, bodies, softening_squared, out, stream);
  CUDA_CHECK(cudaGetLastError());
}

bool fits_one_kernel(int n) { return n <= choice_for(n).room; }

int sum_in_one_kernel(const float* positions, const float* masses, int n, double softening,
                      bool is_checked, float* out, cudaStream_t stream) {
  const Shape& shape = choice_for(n).shape;
  const auto launch = [&](Facts* facts) {
    All::launch(shape, positions, masses, n, softening, out, facts, stream);
    CUDA_CHECK(cudaGetLastError());
  };
  if (!is_checked) {
    launch(nullptr);
    return NBODY_OK;
  }
  Mailbox mailbox;
  mailbox.begin();
  launch(mailbox.facts());
  return mailbox.wait(stream).wrong;
}

}  // namespace nbody::library
