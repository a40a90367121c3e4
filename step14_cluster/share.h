// Device data of a rank: the bodies that it keeps, the positions of all bodies, and sums of
// forces.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "nbody/cuda.h"
#include "step14_cluster/plan.h"

namespace {

constexpr int kBlockSize = 128;  // threads per block in kernels with one thread per body
constexpr size_t kMaxBytes = size_t{TUNABLE(MAX_KIBIBYTES, 2 << 20)} << 10;  // for partial sums
constexpr size_t kMaxUnits = TUNABLE(MAX_UNITS, 65535);  // units per launch; gridDim.y's limit
constexpr size_t kGroups = TUNABLE(GROUPS, 4);           // for whole systems
constexpr size_t kBlocksOfGroup = TUNABLE(BLOCKS_OF_GROUP, 4096);  // fewest blocks of a group

using Position = float4;  // read by one 16-byte load; w is the mass
using Velocity = float4;  // w is 0; one 16-byte load or store

// The bodies that a rank keeps, in segments that are padded with additional massless bodies.
struct Kept {
  size_t first, count;  // indices in the array of all segments
  size_t segment, of_system, n, systems, first_body;

  // Returns the body's index in the part of the input that the rank keeps; -1 for padding.
  __host__ __device__ long long body(size_t i) const {
    const size_t system = (first + i) / of_system, k = (first + i) % of_system;
    if (i >= count || system >= systems || k >= n) return -1;
    return static_cast<long long>(system * n + k - first_body);
  }
};

inline Kept kept_by(int rank, const plan::Plan& plan) {
  const size_t segment = plan.segment, count = plan.kept * segment;
  return {.first = rank * count,
          .count = count,
          .segment = segment,
          .of_system = plan.segments * segment,
          .n = static_cast<size_t>(plan.n),
          .systems = static_cast<size_t>(plan.systems),
          .first_body = plan.first_bodies()[rank]};
}

__global__ void take_apart(const nbody::Body* bodies, Kept kept, Position* positions,
                           Velocity* velocities) {
  const size_t i = static_cast<size_t>(blockIdx.x) * kBlockSize + threadIdx.x;
  if (i >= kept.count) return;
  const long long k = kept.body(i);
  const nbody::Body b = k < 0 ? nbody::Body{} : bodies[k];
  positions[i] = {b.x, b.y, b.z, b.mass};
  velocities[i] = {b.vx, b.vy, b.vz, 0};
}

__global__ void put_together(nbody::Body* bodies, Kept kept, const Position* positions,
                             const Velocity* velocities) {
  const size_t i = static_cast<size_t>(blockIdx.x) * kBlockSize + threadIdx.x;
  const long long k = kept.body(i);
  if (k < 0) return;
  const float4 x = positions[i], v = velocities[i];
  bodies[k] = {x.x, x.y, x.z, v.x, v.y, v.z, x.w};
}

// Finds the common mass of each tile's bodies, or -1 if their masses differ.
__global__ void compare_masses(const Position* __restrict__ positions, float* __restrict__ masses,
                               int tile) {
  const float mass = positions[static_cast<size_t>(blockIdx.x) * tile].w;
  bool same = true;
  for (int i = threadIdx.x; i < tile; i += kBlockSize)
    same = same && positions[static_cast<size_t>(blockIdx.x) * tile + i].w == mass;
  same = __syncthreads_and(same);
  if (threadIdx.x == 0) masses[blockIdx.x] = same ? mass : -1.0f;
}

// Adds the sums over the other segment's tiles, in the order of the tiles. blockIdx.z is 0 for the
// bodies of a unit's row and 1 for those of its column. If a segment is paired with itself, each
// tile was the column's tile in its pairs with earlier tiles.
__global__ void add_tiles(const float3* __restrict__ partials, float3* __restrict__ sums,
                          const plan::Unit* __restrict__ units, int tiles, size_t segment) {
  const plan::Unit unit = units[blockIdx.y];
  const size_t i = static_cast<size_t>(blockIdx.x) * kBlockSize + threadIdx.x;
  const int slot = blockIdx.z == 0 ? unit.row_slot : unit.column_slot;
  if (i >= segment || slot < 0) return;
  const int own = static_cast<int>(i / (segment / tiles));
  // A system's last segment may have empty tiles, which were paired with nothing.
  const bool has_bodies = own < (blockIdx.z == 0 ? unit.row_tiles : unit.column_tiles);
  const int others = !has_bodies ? 0 : blockIdx.z == 0 ? unit.column_tiles : unit.row_tiles;
  float3 sum = {};
#pragma unroll 8
  for (int t = 0; t < others; ++t) {
    const bool is_column = unit.row == unit.column ? t < own : blockIdx.z == 1;
    const float3 partial = partials[((2 * blockIdx.y + is_column) * tiles + t) * segment + i];
    sum.x += partial.x;
    sum.y += partial.y;
    sum.z += partial.z;
  }
  sums[slot * segment + i] = sum;
}

// Whole systems are independent, so groups of them run in separate streams. While one group ends,
// the next keeps all SMs busy; one group's sums are read while another group computes.
struct Group {
  Kept kept;
  size_t first_unit, end_unit = 0;
  Position* positions = nullptr;
  Velocity* velocities = nullptr;
  const int* slots = nullptr;
  float3* partials = nullptr;
  cudaStream_t stream = nullptr;
};

struct Share {
  nbody::Cluster& cluster;
  plan::Plan plan;
  Kept kept;
  // Whole systems need no positions from other ranks, so this rank stores none of those.
  size_t first = plan.by_systems ? kept.first : 0;
  nbody::DeviceArray<Position> positions{plan.by_systems ? kept.count : kept.count * plan.ranks};
  nbody::DeviceArray<Velocity> velocities{kept.count};
  nbody::DeviceArray<nbody::Body> bodies{kept.count};  // bodies in the order of the input
  nbody::DeviceArray<float> masses{positions.size() / plan.tile()};
  nbody::DeviceArray<plan::Unit> units;
  nbody::DeviceArray<int> slots;
  nbody::DeviceArray<float3> sums, partials;
  size_t at_once;  // number of units per launch
  std::vector<nbody::Stream> streams;
  std::vector<Group> groups;
  std::vector<nbody::Message> sent, received;

  Share(nbody::Cluster& cluster, const plan::Plan& plan)
      : cluster(cluster), plan(plan), kept(kept_by(cluster.rank(), plan)) {
    const plan::Slots places(plan, cluster.rank());
    const auto all = plan::units_of(plan, places, cluster.rank(), first / plan.segment);
    units = nbody::uploaded(all);
    slots = nbody::uploaded(places.of_sum);
    sums = nbody::DeviceArray<float3>(places.count * kept.segment);
    form_groups(all);
    places.add_messages(sums.get(), kept.segment, cluster.rank(), sent, received);
  }
  Position* own() const { return positions.get() + kept.first - first; }
  size_t bytes_of_own() const { return kept.count * sizeof(Position); }
  void form_groups(const std::vector<plan::Unit>& all);

  // Distributes the root's bodies to the ranks; give_back() collects them. If sorting by mass makes
  // all masses of a tile equal, the root sorts the bodies and sends them again. Examining every
  // body before the first copy would take the root longer than all copies.
  std::optional<nbody::MassOrder> take(nbody::Systems& from) {
    take(from.bodies);
    std::optional<nbody::MassOrder> order;
    if (!cluster.any(has_mixed_tile())) return order;
    if (!cluster.any(cluster.is_root() && nbody::MassOrder::is_needed(from))) return order;
    if (cluster.is_root()) order.emplace(from);
    take(from.bodies);
    return order;
  }
  // A system's last tile does not count, because the padding makes its masses differ anyway.
  bool has_mixed_tile() const {
    std::vector<float> found(masses.size());
    nbody::download(masses, found);
    const size_t tile = plan.tile();
    for (size_t k = 0; k < found.size(); ++k)
      if (found[k] < 0 && (first + k * tile) % kept.of_system + tile <= kept.n) return true;
    return false;
  }
  void take(const std::vector<nbody::Body>& from) {
    cluster.scatter(from, plan.first_bodies(), bodies.get());
    take_apart<<<(kept.count - 1) / kBlockSize + 1, kBlockSize>>>(bodies.get(), kept, own(),
                                                                  velocities.get());
    if (!plan.by_systems) cluster.all_gather(positions.get(), bytes_of_own());
    compare_masses<<<masses.size(), kBlockSize>>>(positions.get(), masses.get(), plan.tile());
    CUDA_CHECK(cudaGetLastError());
  }
  void give_back(std::vector<nbody::Body>& to) {
    put_together<<<(kept.count - 1) / kBlockSize + 1, kBlockSize>>>(bodies.get(), kept, own(),
                                                                    velocities.get());
    CUDA_CHECK(cudaGetLastError());
    cluster.gather(bodies.get(), plan.first_bodies(), to);
  }
};

inline size_t max_groups(const plan::Plan& plan) {
  return plan.by_systems ? std::min<size_t>(plan.kept / plan.segments, kGroups) : 1;
}
inline size_t partials_of_unit(const plan::Plan& plan) {
  return size_t{2} * plan.tiles * plan.segment;
}
inline size_t free_bytes() {
  size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

// Partial sums grow with the square of a system's size; more ranks do not reduce them.
inline void require_memory(const plan::Plan& plan, int rank) {
  const size_t kept = static_cast<size_t>(plan.kept) * plan.segment;
  const size_t sums = plan::Slots(plan, rank).count * static_cast<size_t>(plan.segment);
  const double of_sums = 1.0 * sizeof(float3) * max_groups(plan) * partials_of_unit(plan);
  const double of_bodies = 1.0 * sizeof(float3) * sums +
                           sizeof(Position) * kept * (plan.by_systems ? 1 : plan.ranks) +
                           (sizeof(Velocity) + sizeof(nbody::Body)) * kept;
  const double free = free_bytes();
  if (of_sums + of_bodies <= free) return;
  const auto in_mb = [](double bytes) { return std::to_string(std::lround(bytes / 1e6)) + " MB"; };
  const double largest =
      plan.n * 2 * free / (of_bodies + std::sqrt(of_bodies * of_bodies + 4 * of_sums * free));
  throw std::runtime_error(
      "systems of " + std::to_string(plan.n) + " bodies need " + in_mb(of_sums + of_bodies) +
      " on each device, " + in_mb(of_sums) +
      " of it for the partial sums of two segments, whatever the number of ranks; " + in_mb(free) +
      " are free, enough for about " + std::to_string(std::lround(largest)) + " bodies");
}

// Expects `all` to be sorted by system.
inline void Share::form_groups(const std::vector<plan::Unit>& all) {
  const size_t systems = plan.kept / plan.segments, blocks = all.size() * plan.tiles * plan.tiles;
  const size_t wanted = std::clamp(blocks / kBlocksOfGroup, size_t{1}, max_groups(plan));
  const size_t of_group =
      wanted == 1 ? kept.count : (systems - 1) / wanted * kept.of_system + kept.of_system;
  size_t largest = 1;
  for (size_t place = 0, unit = 0; place < kept.count; place += of_group) {
    Group group{.kept = kept, .first_unit = unit};
    group.kept.first += place;
    group.kept.count = std::min(of_group, kept.count - place);
    const bool is_last = place + of_group >= kept.count;
    while (unit < all.size() && (is_last || all[unit].row < place + of_group)) ++unit;
    group.end_unit = unit;
    largest = std::max(largest, unit - group.first_unit);
    group.positions = own() + place;
    group.velocities = velocities.get() + place;
    group.slots = slots.get() + place / kept.segment * plan.segments;
    groups.push_back(group);
  }
  const size_t of_unit = partials_of_unit(plan);
  const size_t fit = std::min(kMaxBytes, free_bytes()) / (groups.size() * of_unit * sizeof(float3));
  at_once = std::min({std::max(fit, size_t{1}), largest, kMaxUnits});
  partials = nbody::DeviceArray<float3>(of_unit * at_once * groups.size());
  if (groups.size() > 1) streams.resize(groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].partials = partials.get() + g * at_once * of_unit;
    groups[g].stream = groups.size() > 1 ? streams[g].get() : nullptr;
  }
}

// Returns the share of this rank. The share keeps its memory for calls of the same sizes.
inline Share& share_of(nbody::Cluster& cluster, const nbody::Systems& systems, int tile) {
  static std::unique_ptr<Share> share;
  const plan::Plan plan(systems.count, systems.bodies_per_system, tile, cluster.count());
  if (!share || !share->plan.same_sizes(plan)) {
    share.reset();  // frees its memory before allocating more
    require_memory(plan, cluster.rank());
    share = std::make_unique<Share>(cluster, plan);
  }
  return *share;
}

}  // namespace
