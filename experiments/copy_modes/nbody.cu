// copy_modes -- bodies reach the kernels from pageable, pinned or mapped host memory.
//
// The driver copies pageable memory through its own pinned buffer. A copy engine reads pinned
// memory directly, so the host's call returns at once. Mapped memory is not copied: the kernels
// access it over the bus each time they need a body. A GPU has one copy engine for each direction.
// With ENGINES 1, every copy waits for the copy that was enqueued before it, as if there were a
// single engine.
//
// Parent: step07_overlap.   Run: copy_modes --systems 32 --bodies 8192 --steps 20
#include <algorithm>

#include "experiments/one_grid.cuh"

namespace {

using one_grid::Position;
using one_grid::Velocity;

enum class Memory { pageable, pinned, mapped };
constexpr Memory kMemory = static_cast<Memory>(TUNABLE(MEMORY, 1));
constexpr bool kMapped = kMemory == Memory::mapped;
constexpr int kEngines = TUNABLE(ENGINES, 2);
constexpr int kTileSize = 128;
constexpr int kStreams = 16;

// Host memory of the kind that kMemory selects.
template <class T>
class HostArray {
 public:
  explicit HostArray(size_t count) : pageable_(kMemory == Memory::pageable ? count : 0) {
    if constexpr (kMemory != Memory::pageable) {
      T* data = nullptr;
      CUDA_CHECK(cudaHostAlloc(&data, count * sizeof(T),
                               kMapped ? cudaHostAllocMapped : cudaHostAllocDefault));
      locked_.reset(data);
    }
  }
  T* data() { return kMemory == Memory::pageable ? pageable_.data() : locked_.get(); }
  // Returns the address that kernels use.
  T* mapped() {
    T* address = nullptr;
    CUDA_CHECK(cudaHostGetDevicePointer(&address, locked_.get(), 0));
    return address;
  }

 private:
  std::vector<T> pageable_;
  nbody::Owner<T*, cudaFreeHost> locked_;
};

// Kick: v_i += a_i dt. Reads positions only, so bodies may be updated in any order.
__global__ void __launch_bounds__(kTileSize)
    update_velocities(const Position* __restrict__ positions, Velocity* velocities, int n, float dt,
                      float softening_squared) {
  __shared__ Position tile[kTileSize];
  const int i = blockIdx.x * kTileSize + threadIdx.x;
  const Position body = one_grid::load(positions, i, n);
  float3 a = {};
  for (int first = 0; first < n; first += kTileSize) {
    tile[threadIdx.x] = one_grid::load(positions, first + threadIdx.x, n);
    __syncthreads();  // no thread may read the tile before it is complete
    float3 tile_a = {};
#pragma unroll 16
    for (int k = 0; k < kTileSize; ++k) {
      one_grid::interact(tile[k], body, tile_a, softening_squared);
    }
    one_grid::add(a, tile_a);
    __syncthreads();  // no thread may overwrite the tile before all have read it
  }
  if (i < n) one_grid::kick(velocities[i], a, dt);
}

// Enqueues a run's copies. If there is only one engine, each copy waits for the one before it.
class Copies {
 public:
  template <class T>
  void copy(T* to, const T* from, int count, cudaStream_t stream) {
    if constexpr (kEngines == 1) {
      if (!first_) CUDA_CHECK(cudaStreamWaitEvent(stream, last_.get()));
    }
    CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDefault, stream));
    if constexpr (kEngines == 1) {
      last_.record(stream);
      first_ = false;
    }
  }

 private:
  nbody::Event last_;
  bool first_ = true;
};

// Enqueues one galaxy after another, so that later uploads can overlap with earlier downloads.
void enqueue(const nbody::Run& run, const nbody::Systems& systems, Position* host_positions,
             Velocity* host_velocities, Position* positions, Velocity* velocities,
             const std::vector<nbody::Stream>& streams, nbody::Timeline& timeline) {
  const int n = systems.bodies_per_system, blocks = one_grid::blocks_for(n, kTileSize);
  Copies copies;
  for (int system = 0; system < systems.count; ++system) {
    const size_t first = static_cast<size_t>(system) * n;
    const cudaStream_t stream = streams[system % kStreams].get();
    Position* const p = positions + first;
    Velocity* const v = velocities + first;
    timeline.start(system, stream);
    if constexpr (!kMapped) {
      copies.copy(p, host_positions + first, n, stream);
      copies.copy(v, host_velocities + first, n, stream);
    }
    timeline.uploaded(system, stream);
    for (int step = 0; step < run.steps; ++step) {
      update_velocities<<<blocks, kTileSize, 0, stream>>>(p, v, n, run.dt, run.softening_squared);
      one_grid::update_positions<<<blocks, kTileSize, 0, stream>>>(p, v, n, run.dt);
    }
    timeline.computed(system, stream);
    if constexpr (!kMapped) {
      copies.copy(host_positions + first, p, n, stream);
      copies.copy(host_velocities + first, v, n, stream);
    }
    timeline.downloaded(system, stream);
  }
  CUDA_CHECK(cudaGetLastError());  // a launch returns no error; a bad configuration shows here
}

// Returns the time from the first copy's start to the last copy's end, with all kernels in between.
double seconds_of(const std::vector<nbody::Span>& spans) {
  double begin = spans.front().begin, end = begin;
  for (const nbody::Span& span : spans) {
    begin = std::min(begin, span.begin);
    end = std::max(end, span.end);
  }
  return end - begin;
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const size_t all = systems.bodies.size();
  HostArray<Position> host_positions(all);
  HostArray<Velocity> host_velocities(all);
  for (size_t i = 0; i < all; ++i) {
    const nbody::Body& b = systems.bodies[i];
    host_positions.data()[i] = make_float4(b.x, b.y, b.z, b.mass);
    host_velocities.data()[i] = make_float4(b.vx, b.vy, b.vz, 0.0f);
  }
  const nbody::DeviceArray<Position> positions(kMapped ? 1 : all);
  const nbody::DeviceArray<Velocity> velocities(kMapped ? 1 : all);
  const std::vector<nbody::Stream> streams(kStreams);
  nbody::Timeline timeline(systems.count);
  if constexpr (kMapped) {
    enqueue(run, systems, nullptr, nullptr, host_positions.mapped(), host_velocities.mapped(),
            streams, timeline);
  } else {
    enqueue(run, systems, host_positions.data(), host_velocities.data(), positions.get(),
            velocities.get(), streams, timeline);
  }
  CUDA_CHECK(cudaDeviceSynchronize());  // the host must not read what a copy still writes
  for (size_t i = 0; i < all; ++i) {
    const Position p = host_positions.data()[i];
    const Velocity v = host_velocities.data()[i];
    systems.bodies[i] = {p.x, p.y, p.z, v.x, v.y, v.z, p.w};
  }
  return {.compute = seconds_of(timeline.spans())};
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "copy_modes",
                           .parent = "step07_overlap",
                           .summation = nbody::Summation::tiled,
                           .boundaries = {kTileSize}},
                          simulate, argc, argv);
}
