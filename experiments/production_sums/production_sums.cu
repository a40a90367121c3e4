// production_sums -- step 11's kernel, extended to sum the potential, the jerk, or both.
//
//   potential   phi_i = -sum_j m_j / d,  d^2 = |x_j - x_i|^2 + eps^2; a body's own share is
//               subtracted at the end
//
//   jerk        sum_j m_j (v - 3 (v . x) x / d^2) / d^3,  x and v of j are relative to i
//               (Makino and Aarseth 1992, PASJ 44, 141)
#include "nbody/cuda.h"
#include "nbody/shape.h"
#include "production_sums.h"

namespace production {
namespace {

constexpr int kTileSize = 256;
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
constexpr int kMaxChunks = 64;

struct Body {
  float4 position;  // w is the mass
  float4 velocity;
};
struct Partial {
  float4 acceleration;  // w is the potential
  float4 jerk;
};

// Bodies per thread. If a thread also sums jerks, its registers have room for only two bodies.
template <bool kJerk>
constexpr int kBodies = kJerk ? 2 : 4;

__device__ Body load(const Body* __restrict__ bodies, int j, int n) {
  return j < n ? bodies[j] : Body{};
}

__device__ void operator+=(float4& a, const float4& b) {
  a.x += b.x;
  a.y += b.y;
  a.z += b.z;
  a.w += b.w;
}

template <bool kJerk, bool kPotential>
__device__ void interact(const Body& source, const Body& body, Partial& sum,
                         float softening_squared) {
  const float dx = source.position.x - body.position.x;
  const float dy = source.position.y - body.position.y;
  const float dz = source.position.z - body.position.z;
  const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
  const float inverse_distance = rsqrtf(distance_squared);
  const float inverse_squared = inverse_distance * inverse_distance;
  const float potential = source.position.w * inverse_distance;
  const float s = potential * inverse_squared;
  sum.acceleration.x = fmaf(s, dx, sum.acceleration.x);
  sum.acceleration.y = fmaf(s, dy, sum.acceleration.y);
  sum.acceleration.z = fmaf(s, dz, sum.acceleration.z);
  if (kPotential) sum.acceleration.w -= potential;
  if (kJerk) {
    const float vx = source.velocity.x - body.velocity.x;
    const float vy = source.velocity.y - body.velocity.y;
    const float vz = source.velocity.z - body.velocity.z;
    const float approach = fmaf(vx, dx, fmaf(vy, dy, vz * dz));
    const float t = -3.0f * approach * inverse_squared;
    sum.jerk.x = fmaf(s, fmaf(t, dx, vx), sum.jerk.x);
    sum.jerk.y = fmaf(s, fmaf(t, dy, vy), sum.jerk.y);
    sum.jerk.z = fmaf(s, fmaf(t, dz, vz), sum.jerk.z);
  }
}

// Writes to partials[chunk][body] the sums over chunk blockIdx.y of the sources.
template <bool kJerk, bool kPotential>
__global__ void __launch_bounds__(kBlockSize, 1)
    partial_sums(const Body* __restrict__ bodies, Partial* __restrict__ partials, int n, int chunk,
                 float softening_squared) {
  constexpr int kPerThread = kBodies<kJerk>;
  __shared__ float4 positions[kTileSize];
  __shared__ float4 velocities[kJerk ? kTileSize : 1];
  const int first_i = blockIdx.x * kBlockSize * kPerThread + threadIdx.x;
  const int begin = blockIdx.y * chunk, end = min(begin + chunk, n);
  Body body[kPerThread];
  Partial total[kPerThread] = {};
  for (int k = 0; k < kPerThread; ++k) body[k] = load(bodies, first_i + k * kBlockSize, n);
  for (int first = begin; first < end; first += kTileSize) {
    const Body source = load(bodies, first + threadIdx.x, n);
    positions[threadIdx.x] = source.position;
    if (kJerk) velocities[threadIdx.x] = source.velocity;
    __syncthreads();  // no thread may read the tile before it is complete
    Partial sum[kPerThread] = {};
#pragma unroll 4
    for (int j = 0; j < kTileSize; ++j) {
      const Body other{positions[j], velocities[kJerk ? j : 0]};
      for (int k = 0; k < kPerThread; ++k) {
        interact<kJerk, kPotential>(other, body[k], sum[k], softening_squared);
      }
    }
    for (int k = 0; k < kPerThread; ++k) {
      total[k].acceleration += sum[k].acceleration;
      total[k].jerk += sum[k].jerk;
    }
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  for (int k = 0; k < kPerThread; ++k) {
    const int i = first_i + k * kBlockSize;
    if (i >= n) break;
    Partial& place = partials[static_cast<size_t>(blockIdx.y) * n + i];
    place.acceleration = total[k].acceleration;
    if (kJerk) place.jerk = total[k].jerk;
  }
}

// Adds all chunks to the first one, and subtracts the share of each body's potential that the body
// itself causes.
template <bool kJerk, bool kPotential>
__global__ void add_chunks(const Body* __restrict__ bodies, Partial* __restrict__ partials,
                           int chunks, int n, float softening_squared) {
  const int i = blockIdx.x * kBlockSize + threadIdx.x;
  if (i >= n) return;
  Partial sum = partials[i];
  for (int chunk = 1; chunk < chunks; ++chunk) {
    const Partial& other = partials[static_cast<size_t>(chunk) * n + i];
    sum.acceleration += other.acceleration;
    if (kJerk) sum.jerk += other.jerk;
  }
  if (kPotential) sum.acceleration.w += bodies[i].position.w * rsqrtf(softening_squared);
  partials[i] = sum;
}

int blocks_for(int n, int each) { return (n - 1) / each + 1; }

template <bool kJerk>
int chunk_for(int n) {
  std::vector<int> chunks;
  for (int count = 1; count <= kMaxChunks; ++count) {
    chunks.push_back(blocks_for(n, count * kTileSize) * kTileSize);
  }
  return nbody::least_work(1, n, chunks, [&](int chunk) -> nbody::Cost {
    return {.blocks = 1.0 * blocks_for(n, kBlockSize * kBodies<kJerk>) * blocks_for(n, chunk),
            .slots = (kJerk ? 28.0 : 15.0) * kBodies<kJerk> * (chunk + 64),
            .side_by_side = 3};
  });
}

template <bool kJerk, bool kPotential>
Pass passes(const std::vector<nbody::Body>& from, float softening_squared, int warmup, int repeat) {
  const int n = static_cast<int>(from.size()), chunk = chunk_for<kJerk>(n);
  const int chunks = blocks_for(n, chunk);
  std::vector<Body> host;
  for (const nbody::Body& b : from) {
    host.push_back({make_float4(b.x, b.y, b.z, b.mass), make_float4(b.vx, b.vy, b.vz, 0.0f)});
  }
  nbody::DeviceArray<Body> bodies(host.size());
  nbody::DeviceArray<Partial> partials(host.size() * chunks);
  nbody::upload(host, bodies);
  Pass pass;
  nbody::Event start, stop;
  for (int k = 0; k < warmup + repeat; ++k) {
    start.record();
    partial_sums<kJerk, kPotential>
        <<<dim3(blocks_for(n, kBlockSize * kBodies<kJerk>), chunks), kBlockSize>>>(
            bodies.get(), partials.get(), n, chunk, softening_squared);
    add_chunks<kJerk, kPotential><<<blocks_for(n, kBlockSize), kBlockSize>>>(
        bodies.get(), partials.get(), chunks, n, softening_squared);
    CUDA_CHECK(cudaGetLastError());
    stop.record();
    const double seconds = nbody::seconds_between(start, stop);
    if (k >= warmup) pass.seconds.push_back(seconds);
  }
  std::vector<Partial> sums(host.size());
  CUDA_CHECK(cudaMemcpy(sums.data(), partials.get(), sums.size() * sizeof(Partial),
                        cudaMemcpyDeviceToHost));
  for (const auto& [a, jerk] : sums) {
    pass.sums.acceleration.push_back({a.x, a.y, a.z});
    if (kJerk) pass.sums.jerk.push_back({jerk.x, jerk.y, jerk.z});
    if (kPotential) pass.sums.potential.push_back(a.w);
  }
  return pass;
}

}  // namespace

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds{{"acceleration", false, false},
                                       {"acceleration_potential", false, true},
                                       {"acceleration_jerk", true, false},
                                       {"acceleration_jerk_potential", true, true}};
  return kinds;
}

Pass sum(const Kind& kind, const std::vector<nbody::Body>& bodies, double softening, int warmup,
         int repeat) {
  const auto run = kind.jerk ? (kind.potential ? passes<true, true> : passes<true, false>)
                             : (kind.potential ? passes<false, true> : passes<false, false>);
  return run(bodies, static_cast<float>(softening * softening), warmup, repeat);
}

nbody::Platform platform() { return nbody::platform_of(nbody::query_device()); }

}  // namespace production
