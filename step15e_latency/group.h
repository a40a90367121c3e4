// A group of 32 bodies, one per lane of a warp, and what acts on them: nodes and bodies of leaves
// that are near, one by one, and far nodes through the group's series.
#pragma once

#include "nbody/box.h"
#include "nbody/step.h"
#include "step15_barnes_hut/attraction.h"
#include "step15e_latency/walk.h"

namespace group {
using namespace nbody;
using namespace walk;
using gravity::attraction;
using tree::Position;

// If a group's box is this many times as wide as the distance at which a node is accepted, the node
// may be in the box but far from all bodies, which are near the faces. Then each body is tested.
constexpr float kWide = 8;

// Returns the sum of x over the lanes before this one.
__device__ inline int sum_before_lane(int x) {
  int sum = x;
  for (int apart = 1; apart < 32; apart *= 2) {
    const int before = __shfl_up_sync(kAllLanes, sum, apart);
    if (lane() >= apart) sum += before;
  }
  return sum - x;
}

// Shared memory of a warp.
struct Waiting {
  int nodes[kStack], far[64];
  int bodies[32 * (tree::kLeafSize + 1)];  // of leaves, until they fill a tile
  float4 tile[3][32];
};

// Far is an Expansion that also defines Head, and covers() and weight() of a Head.
template <class Far, bool kQuadrupole>
struct Group {
  using Head = typename Far::Head;
  Far far;
  const Position* __restrict__ bodies;
  Waiting& waiting;
  Position body;  // of this lane
  Box box;        // around the group
  float bound;    // of a node's error
  int queued = 0;
  float3 a{};

  // Returns the attraction of this lane's body by the last `count` bodies in the queue, at most 32.
  __device__ float3 attraction_of_tile(int count) {
    float4* const tile = waiting.tile[0];
    queued -= count;
    __syncwarp();  // the queue has been written, and all lanes are done with the old tile
    if (lane() < count) tile[lane()] = bodies[waiting.bodies[queued + lane()]];
    __syncwarp();  // the new tile has been written
    float3 sum{};
#pragma unroll 8
    for (int j = 0; j < count; ++j) sum = sum + attraction(tile[j], body, far.softening_squared);
    return sum;
  }

  __device__ Fate judge(const Head& node, bool mine) const {
    const float4 centre = node.centre;
    const float3 width = 1 / kWide * (box.high - box.low);
    const float weight = far.weight(node);
    const bool expanded = mine && far.covers(node, bound);
    bool accepted = mine && !expanded && far.acts_as_a_whole(centre, weight, box, bound);
    const bool doubtful = mine && !expanded && !accepted && centre.w < dot(width, width);
    for (unsigned asked = __ballot_sync(kAllLanes, doubtful); asked != 0; asked &= asked - 1) {
      const int holder = __ffs(asked) - 1;
      const auto of_holder = [holder](float x) { return __shfl_sync(kAllLanes, x, holder); };
      const float4 c{of_holder(centre.x), of_holder(centre.y), of_holder(centre.z),
                     of_holder(centre.w)};
      const bool agreed = far.acts_as_a_whole(c, of_holder(weight), BoxOf()(body), bound);
      accepted |= __all_sync(kAllLanes, agreed) && lane() == holder;
    }
    if (!mine) return Fate::none;
    if (expanded) return Fate::expanded;
    if (accepted) return Fate::accepted;
    return node.right < 0 ? Fate::listed : Fate::opened;
  }

  __device__ void act(Fate fate, const tree::Node& node, int number) {
    float4(&tile)[3][32] = waiting.tile;
    const unsigned whole = __ballot_sync(kAllLanes, fate == Fate::accepted);
    if (fate == Fate::accepted) {
      const int place = rank_among(whole);
      const float4 c = node.centre, s = node.squares, p = node.products;
      tile[0][place] = {c.x, c.y, c.z, s.w};
      tile[1][place] = s;
      tile[2][place] = {p.x, p.y, p.z, -0.5f * (s.x + s.y + s.z)};
    }
    far.take(fate == Fate::expanded, number);  // its barrier also protects the tile
    float3 partial{};
    for (int j = 0; j < __popc(whole); ++j) {
      partial = partial + (kQuadrupole ? attraction(tile[0][j], tile[1][j], tile[2][j], body,
                                                    far.softening_squared)
                                       : attraction(tile[0][j], body, far.softening_squared));
    }
    const int count = fate == Fate::listed ? -node.right : 0;
    const int first = queued + sum_before_lane(count);
    for (int k = 0; k < count; ++k) waiting.bodies[first + k] = node.left + k;
    queued = __shfl_sync(kAllLanes, first + count, 31);
    while (queued >= 32) partial = partial + attraction_of_tile(32);
    a = a + partial;  // adding partial sums loses fewer digits
  }

  // Walks down from the first `size` nodes in waiting.nodes.
  __device__ void walk_from(int size) {
    Stack stack{waiting.nodes, size};
    walk_down<Head>(
        far.nodes, stack, [this](const Head& node, bool mine) { return judge(node, mine); },
        [this](Fate fate, int number) {
          act(fate, far.nodes[number], number);
          return true;
        });
  }

  // Returns the acceleration of this lane's body.
  __device__ float3 finish() {
    a = a + attraction_of_tile(queued);
    far.finish();
    return a + far.series.at(xyz(body) - far.middle, far.unit);
  }
};

}  // namespace group
