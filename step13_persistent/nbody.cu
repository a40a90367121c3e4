// step13_persistent -- one kernel takes all time steps: a grid barrier replaces the launches.
//
// For a few thousand bodies two launches take longer than the forces. Here the blocks stay: each
// advances its bodies, waits at a barrier for all others, and continues. Positions are stored
// twice, one copy to read and one to write, so one barrier per step is enough.
//
// Parent: step11_register_blocking.   Run: step13_persistent --systems 1 --bodies 1024 --steps 1000
#include <cooperative_groups.h>

#include <cmath>

#include "nbody/float3.h"
#include "nbody/shape.h"
#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "small_systems/in_shared_memory.h"

namespace {

using namespace nbody;  // arithmetic with float3

using Position = float4;  // read by one 16-byte load; w is the mass
using Velocity = float4;  // w is 0; one 16-byte load or store

// Returns a massless body for an index past the end, so that every tile is full for any N.
// Other SMs write positions while this kernel runs, so __ldg is not allowed; __ldcg reads from L2.
__device__ Position load(const Position* positions, int j, int n) {
  return j < n ? __ldcg(&positions[j]) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// Pairs a source with the K bodies of a thread; the interactions do not wait for one another.
template <int K>
__device__ void interact(Position source, const Position (&body)[K], float3 (&a)[K],
                         float softening_squared) {
  for (int k = 0; k < K; ++k) {
    const float3 d = xyz(source) - xyz(body[k]);
    const float inverse_distance = rsqrtf(dot(d, d, softening_squared));
    const float s = source.w * inverse_distance * (inverse_distance * inverse_distance);
    a[k] = fma(s, d, a[k]);
  }
}

// Stores the accelerations of the block's bodies, from first_i on, in warp_a[warp][body]. Each
// group of kLanes lanes in a warp holds all these bodies, K per lane. Warps take slabs of sources
// in turn, and the groups of a warp divide a slab equally.
template <int K, int kLanes, int kWarps>
__device__ void partial_accelerations(const Position* positions, float4 (*warp_a)[K * kLanes],
                                      int first_i, int n, float softening_squared) {
  // With more than 128 interactions the unrolled loop no longer fits the instruction cache.
  constexpr int kLoads = K * kLanes > 64 ? 1 : 2, kSlab = 32 * kLoads;
  __shared__ Position slabs[kWarps][kSlab];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  Position* const slab = slabs[warp];
  const Position* const part = slab + lane / kLanes * kLanes * kLoads;
  Position body[K];
  Position next[kLoads];
  float3 a[K] = {};
  for (int q = 0; q < kLoads; ++q) next[q] = load(positions, warp * kSlab + q * 32 + lane, n);
  for (int k = 0; k < K; ++k) body[k] = load(positions, first_i + k * kLanes + lane % kLanes, n);
  for (int first = warp * kSlab; first < n; first += kWarps * kSlab) {
    for (int q = 0; q < kLoads; ++q) slab[q * 32 + lane] = next[q];
    __syncwarp();  // no lane may read the slab before all of it is there
    const int then = first + kWarps * kSlab + lane;  // loaded while this slab is used
    for (int q = 0; q < kLoads; ++q) next[q] = load(positions, then + q * 32, n);
#pragma unroll
    for (int j = 0; j < kLanes * kLoads; ++j) interact<K>(part[j], body, a, softening_squared);
    __syncwarp();  // no lane may overwrite the slab while another still reads it
  }
  for (int k = 0; k < K; ++k) {
    for (int apart = kLanes; apart < 32; apart *= 2) {  // adds the other lanes' sums for this body
      a[k].x += __shfl_xor_sync(0xffffffff, a[k].x, apart);
      a[k].y += __shfl_xor_sync(0xffffffff, a[k].y, apart);
      a[k].z += __shfl_xor_sync(0xffffffff, a[k].z, apart);
    }
    const float4 sum = make_float4(a[k].x, a[k].y, a[k].z, 0.0f);
    if (lane < kLanes) warp_a[warp][k * kLanes + lane] = sum;
  }
}

// Takes all time steps. Each step reads the positions in one half of the array and writes the other
// half. The bodies of a system are divided into groups, which the blocks take in turn.
template <int K, int kLanes, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, 1)
    advance(Position* all_positions, Velocity* all_velocities, int systems, int n, int steps,
            float dt, float softening_squared) {
  constexpr int kGroup = K * kLanes;
  __shared__ float4 warp_a[kWarps][kGroup];
  const int groups = (n - 1) / kGroup + 1;  // groups of a system
  const bool in_turn = systems * groups > static_cast<int>(gridDim.x);
  Position position{}, velocity{};  // they stay in registers if a block has only one group
  for (int step = 0; step < steps; ++step) {
    for (int group = blockIdx.x; group < systems * groups; group += gridDim.x) {
      const size_t bodies = static_cast<size_t>(systems) * n,
                   before = static_cast<size_t>(group / groups) * n;
      const Position* const positions = all_positions + step % 2 * bodies + before;
      const int first_i = group % groups * kGroup, i = first_i + threadIdx.x;
      const bool owner = threadIdx.x < kGroup && i < n;  // this thread moves body i
      if (step == 0 || in_turn) position = load(positions, owner ? i : n, n);
      if (owner && (step == 0 || in_turn)) velocity = all_velocities[before + i];
      partial_accelerations<K, kLanes, kWarps>(positions, warp_a, first_i, n, softening_squared);
      __syncthreads();  // no thread may read the sums before those of all warps are there
      if (owner) {
        float3 a = {};
        for (int warp = 0; warp < kWarps; ++warp) {
          const float4 sum = warp_a[warp][threadIdx.x];
          a.x += sum.x;
          a.y += sum.y;
          a.z += sum.z;
        }
        velocity.x += a.x * dt;
        velocity.y += a.y * dt;
        velocity.z += a.z * dt;
        position.x += velocity.x * dt;
        position.y += velocity.y * dt;
        position.z += velocity.z * dt;
        if (step + 1 == steps || in_turn) all_velocities[before + i] = velocity;
        __stcg(&all_positions[(step + 1) % 2 * bodies + before + i], position);
      }
      __syncthreads();  // no thread may overwrite the sums before all have read them
    }
    // The next step reads what this one wrote, and overwrites what this one read.
    cooperative_groups::this_grid().sync();
  }
}

struct Shape {
  int group, warps;
  void (*kernel)(Position*, Velocity*, int, int, int, float, float);
};
template <int K, int kLanes, int kWarps>
const Shape kShape{K * kLanes, kWarps, advance<K, kLanes, kWarps>};

Shape shape_for(int systems, int n, const std::vector<Shape>& shapes) {
  // An SM does 128 / 16 interactions per cycle; a group takes about 1400 cycles to start and end.
  return nbody::least_work(systems, n, shapes, [&](const Shape& shape) -> nbody::Cost {
    return {.blocks = systems * std::ceil(1.0 * n / shape.group),
            .slots = 16.0 * shape.group * n + 128 * 1400.0};
  });
}

// All blocks must be resident at once, or they wait forever for a block that has not started.
void launch(Position* positions, Velocity* velocities, int systems, int n, int steps, float dt,
            float softening_squared) {
  const Shape shape = shape_for(systems, n,
                                {kShape<8, 16, 12>, kShape<4, 32, 8>, kShape<4, 16, 12>,
                                 kShape<2, 16, 12>, kShape<2, 8, 8>, kShape<1, 8, 8>});
  int per_sm = 0;
  CUDA_CHECK(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, shape.kernel, 32 * shape.warps, 0));
  const int blocks = std::min(systems * ((n - 1) / shape.group + 1),
                              per_sm * nbody::device_attribute(cudaDevAttrMultiProcessorCount));
  void* arguments[] = {&positions, &velocities, &systems, &n, &steps, &dt, &softening_squared};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(shape.kernel), blocks,
                                         32 * shape.warps, arguments, 0, nullptr));
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int count = systems.count, n = systems.bodies_per_system, bodies = count * n;
  nbody::DeviceArray<Position> positions(2 * systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  (small_systems::fit(count, n) ? small_systems::launch : launch)(
      positions.get(), velocities.get(), count, n, run.steps, run.dt, run.softening_squared);
  timer.computed();
  transfer.download(positions.get() + run.steps % 2 * bodies, velocities.get());
  timer.downloaded();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step13_persistent",
                           .parent = "step11_register_blocking",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {8, 16, 32, 64, 128}},
                          simulate, argc, argv);
}
