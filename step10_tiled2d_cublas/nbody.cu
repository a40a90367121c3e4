// step10_tiled2d_cublas -- a two-dimensional grid: bodies x chunks of sources, summed by cuBLAS.
//
// One thread a body fills a GPU only with a few hundred thousand bodies. Here a block takes
// kBlockSize bodies and LUF sources, so that N/LUF times as many blocks share the work. Each writes
// a partial acceleration; as a matrix with a row a body component and a column a chunk, the partial
// sums times a vector of ones are the accelerations. Positions are float4: one 16-byte load a
// source.
//
// Parent: step09_soa.   Run: step10_tiled2d_cublas --scenario plummer --bodies 262144 --steps 5
#include <cublas_v2.h>

#include <algorithm>

#include "nbody/step.h"

namespace {

using nbody::Body;

#ifndef TILE_SIZE
#define TILE_SIZE 256
#endif
#ifndef UNROLL
#define UNROLL 8
#endif
#ifndef LUF
#define LUF 1024
#endif
#ifndef PARTIAL_BYTES
#define PARTIAL_BYTES (1 << 30)
#endif
constexpr int kTileSize = TILE_SIZE;
constexpr int kUnroll = UNROLL;
constexpr int kChunk = LUF;            // sources of one block
constexpr int kBlockSize = kTileSize;  // each thread loads one body of every tile
static_assert(kChunk % kTileSize == 0, "a chunk is a whole number of tiles");
constexpr size_t kPartialBytes = PARTIAL_BYTES;  // the partial sums may take this much memory

// The read-only load, 16 bytes at once. Past the end there are massless bodies.
__device__ float4 load(const float4* __restrict__ positions, int j, int n) {
  return j < n ? __ldg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// The acceleration of kBlockSize bodies of one system by one chunk of its sources. blockIdx.x
// counts the blocks of bodies of all systems, blockIdx.y the chunks of this pass.
// partials[chunk][component][body of all systems], float32.
__global__ void __launch_bounds__(kBlockSize)
    partial_accelerations(const float4* __restrict__ all_positions, float* __restrict__ partials,
                          int n, size_t all_bodies, int first_chunk, float softening_squared) {
  __shared__ float4 tile[kTileSize];
  const int blocks = (n + kBlockSize - 1) / kBlockSize;  // of one system
  const int system = blockIdx.x / blocks;
  const int i = blockIdx.x % blocks * kBlockSize + threadIdx.x;
  const float4* const positions = all_positions + static_cast<size_t>(system) * n;
  const float4 body = load(positions, i, n);
  const int begin = (first_chunk + blockIdx.y) * kChunk;
  const int end = min(begin + kChunk, n);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int first = begin; first < end; first += kTileSize) {
    tile[threadIdx.x] = load(positions, first + threadIdx.x, n);
    __syncthreads();  // the whole tile must be there before anyone reads it
    float tile_ax = 0.0f, tile_ay = 0.0f, tile_az = 0.0f;
#pragma unroll kUnroll
    for (int j = 0; j < kTileSize; ++j) {
      const float4 source = tile[j];
      const float dx = source.x - body.x;
      const float dy = source.y - body.y;
      const float dz = source.z - body.z;
      const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
      const float inverse_distance = rsqrtf(distance_squared);
      const float s = source.w * inverse_distance * inverse_distance * inverse_distance;
      tile_ax = fmaf(s, dx, tile_ax);
      tile_ay = fmaf(s, dy, tile_ay);
      tile_az = fmaf(s, dz, tile_az);
    }
    ax += tile_ax;
    ay += tile_ay;
    az += tile_az;
    __syncthreads();  // nobody may overwrite the tile while a slower thread still reads it
  }
  if (i >= n) return;
  float* const column =
      partials + blockIdx.y * 3 * all_bodies + static_cast<size_t>(system) * n + i;
  column[0] = ax;
  column[all_bodies] = ay;
  column[2 * all_bodies] = az;
}

// Kick and drift. Every force of this step has been summed by now, so one kernel does both.
__global__ void update_bodies(float4* __restrict__ positions, float4* __restrict__ velocities,
                              const float* __restrict__ accelerations, size_t all_bodies,
                              float dt) {
  const size_t k = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= all_bodies) return;
  float4 x = positions[k], v = velocities[k];
  v.x += accelerations[k] * dt;
  v.y += accelerations[k + all_bodies] * dt;
  v.z += accelerations[k + 2 * all_bodies] * dt;
  x.x += v.x * dt;
  x.y += v.y * dt;
  x.z += v.z * dt;
  positions[k] = x;
  velocities[k] = v;
}

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusName(status));
  }
}

class Blas {
 public:
  Blas() { check(cublasCreate(&handle_)); }
  Blas(const Blas&) = delete;
  ~Blas() { cublasDestroy(handle_); }

  // sums = matrix * ones (+ sums, if they are to be kept); the matrix is stored column by column.
  void add_columns(const float* matrix, size_t rows, int columns, const float* ones, bool keep,
                   float* sums) {
    const float one = 1.0f, beta = keep ? 1.0f : 0.0f;
    const int m = static_cast<int>(rows);
    check(cublasSgemv(handle_, CUBLAS_OP_N, m, columns, &one, matrix, m, ones, 1, &beta, sums, 1));
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const size_t all_bodies = systems.bodies.size(), rows = 3 * all_bodies;
  const int chunks = (n + kChunk - 1) / kChunk;
  const size_t affordable = std::clamp<size_t>(kPartialBytes / (rows * sizeof(float)), 1, 65535);
  const int chunks_a_pass = static_cast<int>(std::min<size_t>(chunks, affordable));
  const int body_blocks = systems.count * ((n + kBlockSize - 1) / kBlockSize);
  const int update_blocks = static_cast<int>((all_bodies + kBlockSize - 1) / kBlockSize);

  std::vector<float4> host_positions(all_bodies), host_velocities(all_bodies);
  for (size_t k = 0; k < all_bodies; ++k) {
    const Body& b = systems.bodies[k];
    host_positions[k] = make_float4(b.x, b.y, b.z, b.mass);
    host_velocities[k] = make_float4(b.vx, b.vy, b.vz, 0.0f);
  }
  const std::vector<float> host_ones(chunks_a_pass, 1.0f);
  nbody::DeviceArray<float4> positions(all_bodies), velocities(all_bodies);
  nbody::DeviceArray<float> partials(rows * chunks_a_pass), accelerations(rows);
  nbody::DeviceArray<float> ones(chunks_a_pass);
  Blas blas;
  nbody::Event begin, uploaded, computed, downloaded;

  begin.record();
  nbody::upload(host_positions, positions);
  nbody::upload(host_velocities, velocities);
  nbody::upload(host_ones, ones);
  uploaded.record();
  for (int step = 0; step < run.steps; ++step) {
    for (int chunk = 0; chunk < chunks; chunk += chunks_a_pass) {
      const int columns = std::min(chunks_a_pass, chunks - chunk);
      partial_accelerations<<<dim3(body_blocks, columns), kBlockSize>>>(
          positions.get(), partials.get(), n, all_bodies, chunk, run.softening_squared);
      CUDA_CHECK(cudaGetLastError());  // a bad configuration shows only here
      blas.add_columns(partials.get(), rows, columns, ones.get(), chunk > 0, accelerations.get());
    }
    update_bodies<<<update_blocks, kBlockSize>>>(positions.get(), velocities.get(),
                                                 accelerations.get(), all_bodies, run.dt);
    CUDA_CHECK(cudaGetLastError());
  }
  computed.record();
  nbody::download(positions, host_positions);
  nbody::download(velocities, host_velocities);
  downloaded.record();

  for (size_t k = 0; k < all_bodies; ++k) {
    const float4 &x = host_positions[k], &v = host_velocities[k];
    systems.bodies[k] = {x.x, x.y, x.z, v.x, v.y, v.z, x.w};
  }
  return {.upload = seconds_between(begin, uploaded),
          .compute = seconds_between(uploaded, computed),
          .download = seconds_between(computed, downloaded)};
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step10_tiled2d_cublas",
                           .parent = "step09_soa",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize, kChunk}},
                          simulate, argc, argv);
}
