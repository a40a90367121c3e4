// step15_barnes_hut -- far bodies act as a group: N log N interactions instead of N^2.
//
// A tree of cells is built over the bodies in every time step (tree.h). A warp takes neighbouring
// bodies, one or more per lane, and goes down the tree from the root with one stack: a node that
// is small as seen from all of them acts by its mass and quadrupole, others are opened, down to
// the bodies of a leaf. What is left are interactions as in step 11, from tiles in shared memory.
//
// Parent: none.   Run: step15_barnes_hut --scenario plummer --bodies 1048576 --steps 5
#include <cmath>

#include "nbody/step.h"
#include "nbody/timeline.h"
#include "nbody/transfer.h"
#include "step15_barnes_hut/tree.h"

namespace {

constexpr int kBodies = TUNABLE(BODIES, 2);  // per lane
constexpr int kGroup = 32 * kBodies;
constexpr int kWarps = TUNABLE(GROUPS, 4);   // of a block; each has a group of its own
constexpr int kStack = TUNABLE(STACK, 512);  // nodes
// A node has at least one bit more in common than its parent, of 63 and of those of an index. To
// open one node at a time, whatever the tree, takes no more than this.
constexpr int kDepth = 3 * tree::kCoordinateBits + 32;
constexpr unsigned kAllLanes = 0xffffffff;

using namespace nbody;
using tree::Position;
using Velocity = float4;  // w is 0

// The box around the bodies of a warp.
struct Group {
  float3 middle, half;
  __device__ explicit Group(const Position (&body)[kBodies]) {
    float3 low = xyz(body[0]), high = low;
    for (int k = 1; k < kBodies; ++k) low = min(low, xyz(body[k])), high = max(high, xyz(body[k]));
    for (int apart = 16; apart > 0; apart /= 2) {
      const auto other = [&](float value) { return __shfl_xor_sync(kAllLanes, value, apart); };
      low = min(low, {other(low.x), other(low.y), other(low.z)});
      high = max(high, {other(high.x), other(high.y), other(high.z)});
    }
    middle = 0.5f * low + 0.5f * high;
    half = high - middle;
  }
  // Whether a node acts as a whole on all of them: its centre is far enough from the nearest point
  // of the box. Written so that a NaN opens the node.
  __device__ bool accepts(float4 node) const {
    const float3 d = max(abs(xyz(node) - middle) - half, {0, 0, 0});
    return dot(d, d) > node.w;
  }
};

// A source and the bodies of a thread, as in step 11.
__device__ void interact(Position source, const Position (&body)[kBodies], float3 (&a)[kBodies],
                         float softening_squared) {
  for (int k = 0; k < kBodies; ++k) {
    const float dx = source.x - body[k].x;
    const float dy = source.y - body[k].y;
    const float dz = source.z - body[k].z;
    const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
    const float inverse_distance = rsqrtf(distance_squared);
    const float s = source.w * inverse_distance * (inverse_distance * inverse_distance);
    a[k].x = fmaf(s, dx, a[k].x);
    a[k].y = fmaf(s, dy, a[k].y);
    a[k].z = fmaf(s, dz, a[k].z);
  }
}

// A node's mass m and quadrupole. With Q = 3 sum m_k u_k u_k^T, the u_k from the centre to its
// bodies, the distance d to the centre, s^2 = d^2 + eps^2, e = d / s and w = 1 / s^2:
//   a = w ((m + w (5/2 e.Qe - tr Q / 2)) e - w Qe),  the terms of order 0 and 2 of Taylor's series
// of the softened force. Factors near 1 overflow no sooner than the force itself.
__device__ void interact(Position centre, float4 squares, float4 products,
                         const Position (&body)[kBodies], float3 (&a)[kBodies],
                         float softening_squared) {
  for (int k = 0; k < kBodies; ++k) {
    const float dx = centre.x - body[k].x;
    const float dy = centre.y - body[k].y;
    const float dz = centre.z - body[k].z;
    const float distance_squared = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening_squared)));
    const float inverse_distance = rsqrtf(distance_squared);
    const float w = inverse_distance * inverse_distance;
    const float x = dx * inverse_distance, y = dy * inverse_distance, z = dz * inverse_distance;
    const float qx = fmaf(squares.x, x, fmaf(products.x, y, products.y * z));
    const float qy = fmaf(products.x, x, fmaf(squares.y, y, products.z * z));
    const float qz = fmaf(products.y, x, fmaf(products.z, y, squares.z * z));
    const float spread = fmaf(2.5f, fmaf(qx, x, fmaf(qy, y, qz * z)), products.w);
    const float s = w * fmaf(w, spread, squares.w), t = -w * w;
    a[k].x = fmaf(s, x, fmaf(t, qx, a[k].x));
    a[k].y = fmaf(s, y, fmaf(t, qy, a[k].y));
    a[k].z = fmaf(s, z, fmaf(t, qz, a[k].z));
  }
}

// Kick and drift by the tree's forces, a warp for every kGroup sorted bodies.
template <bool kQuadrupole>
__global__ void __launch_bounds__(32 * kWarps)
    advance(const tree::Node* __restrict__ nodes, int root, const Position* __restrict__ bodies,
            const int* __restrict__ order, Position* __restrict__ positions,
            Velocity* __restrict__ velocities, int n, float dt, float softening_squared) {
  __shared__ int stacks[kWarps][kStack];
  __shared__ float4 tiles[kWarps][3][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first_i = (blockIdx.x * kWarps + warp) * kGroup + lane;
  if (first_i - lane >= n) return;  // warps do not wait for one another
  int* const stack = stacks[warp];
  float4(*const tile)[32] = tiles[warp];
  const unsigned lanes_before = (1u << lane) - 1;

  Position body[kBodies];
  float3 a[kBodies] = {};
  for (int k = 0; k < kBodies; ++k) body[k] = bodies[min(first_i + k * 32, n - 1)];
  const Group group(body);

  int size = 1;  // of the stack
  if (lane == 0) stack[0] = root;
  __syncwarp();
  while (size > 0) {
    // Each lane takes a node from the top; fewer where their children might not find room.
    const int taken = min(min(size, 32), max(kStack - kDepth - size, 1));
    size -= taken;
    const bool mine = lane < taken;
    const tree::Node& node = nodes[stack[size + min(lane, taken - 1)]];
    const float4 centre = node.centre;
    const int left = node.left, right = node.right;
    const bool accepted = mine && group.accepts(centre);
    const bool leaf = mine && !accepted && right < 0;
    const bool opened = mine && !accepted && !leaf;
    const unsigned whole = __ballot_sync(kAllLanes, accepted);
    const unsigned parents = __ballot_sync(kAllLanes, opened);
    unsigned leaves = __ballot_sync(kAllLanes, leaf);
    __syncwarp();  // all have taken their nodes and used the tile before others are written
    if (opened) {
      int* const children = stack + size + 2 * __popc(parents & lanes_before);
      children[0] = left;
      children[1] = right;
    }
    size += 2 * __popc(parents);
    if (accepted) {
      const int place = __popc(whole & lanes_before);
      const float4 q = node.squares, p = node.products;
      tile[0][place] = make_float4(centre.x, centre.y, centre.z, q.w);
      if constexpr (kQuadrupole) {
        tile[1][place] = q;
        tile[2][place] = make_float4(p.x, p.y, p.z, -0.5f * (q.x + q.y + q.z));
      }
    }
    __syncwarp();  // all have been written before they are read
    float3 partial[kBodies] = {};
    for (int j = 0; j < __popc(whole); ++j) {
      if constexpr (kQuadrupole)
        interact(tile[0][j], tile[1][j], tile[2][j], body, partial, softening_squared);
      else
        interact(tile[0][j], body, partial, softening_squared);
    }
    for (; leaves != 0; leaves &= leaves - 1) {
      const int holder = __ffs(leaves) - 1;
      const int first = __shfl_sync(kAllLanes, left, holder);
      const int count = -__shfl_sync(kAllLanes, right, holder);
      __syncwarp();  // as above
      if (lane < count) tile[0][lane] = bodies[first + lane];
      __syncwarp();
#pragma unroll 4
      for (int j = 0; j < count; ++j) interact(tile[0][j], body, partial, softening_squared);
    }
    for (int k = 0; k < kBodies; ++k) {  // a sum of sums loses fewer digits
      a[k].x += partial[k].x;
      a[k].y += partial[k].y;
      a[k].z += partial[k].z;
    }
  }

  for (int k = 0; k < kBodies && first_i + k * 32 < n; ++k) {
    const int i = order[first_i + k * 32];
    Velocity v = velocities[i];
    Position x = positions[i];
    v.x += a[k].x * dt, v.y += a[k].y * dt, v.z += a[k].z * dt;
    x.x += v.x * dt, x.y += v.y * dt, x.z += v.z * dt;
    velocities[i] = v;
    positions[i] = x;
  }
}

nbody::Timing simulate(const nbody::Run& run, nbody::Systems& systems) {
  const int n = systems.bodies_per_system;
  const auto kernel = run.approximation.multipole == 2 ? advance<true> : advance<false>;
  nbody::DeviceArray<Position> positions(systems.bodies.size());
  nbody::DeviceArray<Velocity> velocities(systems.bodies.size());
  tree::Tree tree(n);
  const nbody::Transfer transfer(systems.bodies);
  nbody::StageTimer timer;
  transfer.upload(positions.get(), velocities.get());
  timer.uploaded();
  for (int s = 0; s < systems.count; ++s) {  // one after the other: they share the tree's memory
    Position* const x = positions.get() + static_cast<std::size_t>(s) * n;
    Velocity* const v = velocities.get() + static_cast<std::size_t>(s) * n;
    for (int step = 0; step < run.steps; ++step) {
      tree.build(x, run.approximation.theta);
      kernel<<<(n - 1) / (kWarps * kGroup) + 1, 32 * kWarps>>>(tree.nodes(), tree.root(),
                                                               tree.bodies(), tree.order(), x, v, n,
                                                               run.dt, run.softening_squared);
      CUDA_CHECK(cudaGetLastError());
    }
  }
  timer.computed();
  transfer.download(positions.get(), velocities.get());
  timer.downloaded();
  return timer.timing();
}

}  // namespace

int main(int argc, char** argv) {
  return nbody::step_main({.name = "step15_barnes_hut",
                           .summation = nbody::Summation::tiled,
                           .approximation = {{.theta = 0.6f, .multipole = 2}},
                           .boundaries = {tree::kLeafSize, kGroup, kWarps * kGroup}},
                          simulate, argc, argv);
}
