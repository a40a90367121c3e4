// GPU Gems 3, hierarchical methods: 2^18 bodies in an octree of depth 3 fill 512 leaves with 512
// bodies each. A leaf interacts with 27 leaves, itself included. The document estimates that this
// takes less than a millisecond for one leaf and less than half a second for all leaves.
//
// The cube is periodic here, so that every leaf interacts with exactly 27 leaves.
//
//   near_field [BODIES_PER_LEAF [DEPTH]]
#include "claim.h"

namespace {

constexpr float kSofteningSquared = 1e-6f;
constexpr int kTile = 128;

__device__ inline float4 shifted(float4 p, int dx, int dy, int dz) {
  return make_float4(p.x + dx, p.y + dy, p.z + dz, p.w);
}

// A neighbouring leaf, and how far its image is shifted if it lies beyond a face of the periodic
// cube.
struct Neighbour {
  int leaf, dx, dy, dz;
};
__host__ __device__ inline int wrapped(int place, int side, int& shift) {
  shift = place < 0 ? -1 : place >= side ? 1 : 0;
  return place - shift * side;
}
__host__ __device__ inline Neighbour neighbour(int leaf, int k, int side) {
  Neighbour next;
  const int x = wrapped(leaf % side + k % 3 - 1, side, next.dx);
  const int y = wrapped(leaf / side % side + k / 3 % 3 - 1, side, next.dy);
  const int z = wrapped(leaf / side / side + k / 9 - 1, side, next.dz);
  next.leaf = (z * side + y) * side + x;
  return next;
}

__device__ inline void interact(float4 source, float4 body, float3& a) {
  const float dx = source.x - body.x, dy = source.y - body.y, dz = source.z - body.z;
  const float inverse_distance = rsqrtf(dx * dx + dy * dy + dz * dz + kSofteningSquared);
  const float s = source.w * inverse_distance * inverse_distance * inverse_distance;
  a.x += s * dx;
  a.y += s * dy;
  a.z += s * dz;
}

// A block computes the forces on one leaf; each thread computes the forces on one or more of the
// leaf's bodies. The block loads the bodies of the 27 leaves into shared memory.
__global__ void near_forces(const float4* __restrict__ bodies, float3* forces, int per_leaf,
                            int side) {
  __shared__ float4 tile[kTile];
  const int leaf = blockIdx.x, first = leaf * per_leaf;
  for (int base = 0; base < per_leaf; base += blockDim.x) {
    const int i = base + threadIdx.x;
    const float4 body = bodies[first + (i < per_leaf ? i : 0)];
    float3 a = make_float3(0, 0, 0);
    for (int k = 0; k < 27; ++k) {
      const Neighbour next = neighbour(leaf, k, side);
      for (int start = 0; start < per_leaf; start += kTile) {
        if (threadIdx.x < kTile) {
          const int j = start + threadIdx.x;
          tile[threadIdx.x] =
              j < per_leaf ? shifted(bodies[next.leaf * per_leaf + j], next.dx, next.dy, next.dz)
                           : make_float4(0, 0, 0, 0);
        }
        __syncthreads();  // no thread may read the tile before it is complete
#pragma unroll 8
        for (int j = 0; j < kTile; ++j) interact(tile[j], body, a);
        __syncthreads();  // no thread may overwrite the tile before all have read it
      }
    }
    if (i < per_leaf) forces[first + i] = a;
  }
}

std::vector<float4> bodies_in_leaves(int per_leaf, int side) {
  claim::Random random;
  std::vector<float4> bodies;
  const float length = 1.0f / static_cast<float>(side);
  const float mass = length * length * length / static_cast<float>(per_leaf);
  for (int leaf = 0; leaf < side * side * side; ++leaf) {
    for (int i = 0; i < per_leaf; ++i) {
      const float x = random.next(), y = random.next(), z = random.next();
      bodies.push_back(make_float4((leaf % side + x) * length, (leaf / side % side + y) * length,
                                   (leaf / side / side + z) * length, mass));
    }
  }
  return bodies;
}

// Compares the forces on 64 evenly spaced bodies with float64 sums.
double error_of(const std::vector<float4>& bodies, const std::vector<float3>& forces, int per_leaf,
                int side) {
  claim::Error error;
  const int all = static_cast<int>(bodies.size());
  for (int sample = 0; sample < 64; ++sample) {
    const int i = static_cast<int>(static_cast<long long>(all - 1) * sample / 63);
    double x = 0, y = 0, z = 0;
    for (int k = 0; k < 27; ++k) {
      const Neighbour next = neighbour(i / per_leaf, k, side);
      for (int j = next.leaf * per_leaf; j < (next.leaf + 1) * per_leaf; ++j) {
        const double dx = static_cast<double>(bodies[j].x) + next.dx - bodies[i].x;
        const double dy = static_cast<double>(bodies[j].y) + next.dy - bodies[i].y;
        const double dz = static_cast<double>(bodies[j].z) + next.dz - bodies[i].z;
        const double squared = dx * dx + dy * dy + dz * dz + kSofteningSquared;
        const double s = bodies[j].w / (squared * std::sqrt(squared));
        x += s * dx;
        y += s * dy;
        z += s * dz;
      }
    }
    error.add(forces[i].x, x);
    error.add(forces[i].y, y);
    error.add(forces[i].z, z);
  }
  return error.rms();
}

}  // namespace

int main(int argc, char** argv) {
  const int per_leaf = argc > 1 ? std::atoi(argv[1]) : 512,
            depth = argc > 2 ? std::atoi(argv[2]) : 3;
  if (per_leaf < 1 || depth < 1 || depth > 6) {
    std::fprintf(stderr, "near_field: needs at least 1 body per leaf, and a depth from 1 to 6\n");
    return 2;
  }
  const int side = 1 << depth, leaves = side * side * side;
  const auto host = bodies_in_leaves(per_leaf, side);
  const claim::OnDevice<float4> bodies(host);
  const claim::OnDevice<float3> forces(std::vector<float3>(host.size()));
  const int threads = per_leaf < 256 ? (per_leaf < kTile ? kTile : (per_leaf + 31) / 32 * 32) : 256;
  const auto compute = [&](int blocks) {
    near_forces<<<blocks, threads>>>(bodies.get(), forces.get(), per_leaf, side);
  };
  const double one = claim::seconds_of([&] { compute(1); });
  const double all = claim::seconds_of([&] { compute(leaves); });
  const double interactions = 27.0 * leaves * per_leaf * per_leaf;
  const double error = error_of(host, forces.host(), per_leaf, side);
  claim::Line line("near_field");
  line.add("bodies", static_cast<double>(host.size()));
  line.add("leaves", leaves);
  line.add("interactions_per_leaf", interactions / leaves);
  line.add("seconds_of_one_leaf_alone", one);
  line.add("seconds_of_all", all);
  line.add("interactions_per_second", interactions / all);
  line.add("error", error);
  return line.print(error < 1e-5);
}
