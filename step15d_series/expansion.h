// Which nodes a group of bodies takes as a Taylor series around its middle, and their sum.
#pragma once

#include "nbody/box.h"
#include "nbody/cuda.h"
#include "nbody/step.h"
#include "step15_barnes_hut/tree.h"
#include "step15d_series/series.h"

namespace expansion {
using namespace nbody;
using series::Series;

constexpr unsigned kAllLanes = 0xffffffff;
constexpr float kConverges = 0.95f;  // the largest (r + r_group) / R of a series
constexpr float kAllowed = 0.7f;     // of the tolerance, because errors of series add up more
// Scales the error of a series. This error's parts have the same sign for all nodes on one side.
constexpr float kTail = 0.01f * TUNABLE(TAIL, 400);

// A block is one warp.
__device__ inline int lane() { return threadIdx.x; }
__device__ inline int rank_among(unsigned lanes) { return __popc(lanes & ((1u << lane()) - 1)); }

// Returns the inverse of a group's unit of length, its radius. Then high powers of a distance
// become too small for float32 only where they count for nothing. The unit is at least a millionth
// of the cube's edge, because low powers must not become too small.
__device__ inline float unit_of(float radius, const Box& cube) {
  return 1 / fmaxf(fmaxf(radius, 1e-6f * largest(cube.high - cube.low)), 1e-18f);
}

// Returns the limit of a node's error, relative to the force. A series' error grows like
// theta^(order + 1). The limit shrinks with one power more, so at small angles fewer nodes are
// expanded, and most errors are those of the nodes that act on each body, as in step 15b.
inline float allowed(const Approximation& approximation, int order) {
  return kAllowed * approximation.force_tolerance.value_or(0) *
         powf(approximation.theta, order + 2);
}

// Expands nodes around `middle`; the group's bodies are within `radius`. Below, r is a node's
// radius, which the tree stores divided by theta.
template <int kOrder, bool kQuadrupole>
struct Expansion {
  const tree::Node* __restrict__ nodes;
  float3 middle;
  float radius, theta, unit, softening_squared;
  int* waiting;  // up to 63 nodes, which wait until every lane has a node to add
  int count = 0;
  bool any = false;
  Series<kOrder> series{};

  // As in step 15b: true if a node acts as one body on all bodies of a box.
  __device__ bool acts_as_a_whole(float4 centre, float mass, const Box& on, float bound) const {
    const float3 c = xyz(centre), d = max(max(on.low - c, c - on.high), {0, 0, 0});
    const float square = dot(d, d), ratio = theta * sqrtf(centre.w / square);
    return ratio < theta && mass / square * ratio * ratio * (kQuadrupole ? ratio : 1) < bound;
  }
  // True if both series omit little: the node's series omits (r / R)^3 as in step 15b, and the
  // group's series omits the orders n above kOrder. With t = (r + r_group) / R the omitted orders
  // are at most sum (n + 1) t^n, which grows like t^(kOrder + 1) / (1 - t)^2. Errors of wide groups
  // have the same sign, so they count in full. A NaN opens the node.
  __device__ bool covers(float4 centre, float mass, float bound) const {
    const float3 d = middle - xyz(centre);
    const float square = dot(d, d), share = rsqrtf(square), r = theta * sqrtf(centre.w);
    const float both = (r + radius) * share, ratio = r * share;
    float next = kTail / ((1 - both) * (1 - both));
    for (int n = 0; n < series.kTop; ++n) next *= both;
    const float neglected = next + ratio * ratio * (kQuadrupole ? ratio : 1);
    return both < kConverges && mass / square * neglected < bound;
  }
  __device__ void add(int number) {
    series.template add<kQuadrupole>(nodes[number], middle, unit, softening_squared);
  }
  __device__ void take(bool mine, int number) {
    const unsigned all = __ballot_sync(kAllLanes, mine);
    if (mine) waiting[count + rank_among(all)] = number;
    count += __popc(all);
    any |= all != 0;
    __syncwarp();  // all lanes have written before any lane reads
    if (count < 32) return;
    count -= 32;
    add(waiting[count + lane()]);
  }
  __device__ void finish() {
    if (!any) return;
    if (lane() < count) add(waiting[lane()]);
    series.sum_warp();
  }
};

}  // namespace expansion
