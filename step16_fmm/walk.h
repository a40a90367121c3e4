// A walk of the tree by a warp, with one stack.
#pragma once

#include "nbody/cuda.h"
#include "nbody/step.h"
#include "step15_barnes_hut/tree.h"

namespace walk {
using namespace nbody;
using tree::Node;

constexpr int kStack = TUNABLE(STACK, 512);  // nodes on the stack
// The bodies of a node share more bits (of keys, then of indices) than its parent's bodies, so
// opening one node at a time never takes more stack than this.
constexpr int kDepth = 3 * kCoordinateBits + 32;
// Several warps divide the stack once it has this many nodes, or after this many rounds.
constexpr int kEnough = TUNABLE(ENOUGH, 64);
constexpr int kRounds = 16;
constexpr unsigned kAllLanes = 0xffffffff;

__device__ inline int lane() { return threadIdx.x; }
__device__ inline int rank_among(unsigned lanes) { return __popc(lanes & ((1u << lane()) - 1)); }

// Returns the sum of x over the lanes before this one.
__device__ inline int sum_before_lane(int x) {
  int sum = x;
  for (int apart = 1; apart < 32; apart *= 2) {
    const int before = __shfl_up_sync(kAllLanes, sum, apart);
    if (lane() >= apart) sum += before;
  }
  return sum - x;
}

// The part of a node that decides its fate.
struct Head {
  float4 centre;  // as in the node
  float mass;
  float spread;  // the sum of m u^2 over its bodies, at distances u from its centre
  int left, right;
};
__device__ inline Head head_of(const Node& node) {
  const float4 s = node.squares;
  return {node.centre, s.w, (s.x + s.y + s.z) / 3, node.left, node.right};
}

enum class Fate { none, opened, expanded, accepted, listed };

// Keeps the stack's nodes with the numbers part, part + parts, ...; returns how many these are.
__device__ inline int divide(int* stack, int size, int part, int parts) {
  for (int begin = 0; begin < size; begin += 32 * parts) {
    const int from = begin + lane() * parts + part, number = from < size ? stack[from] : 0;
    __syncwarp();  // these nodes have been read before any are overwritten
    if (from < size) stack[begin / parts + lane()] = number;
  }
  __syncwarp();  // no lane may read the kept nodes before all of them are in place
  return (size - part + parts - 1) / parts;
}

// Walks down from the `size` nodes on the stack: each lane takes a node, judge() decides the
// node's fate, and act() does everything except opening the node. Ends when the stack is empty or
// act() returns false; returns the number of nodes that are still on the stack. Until several warps
// divide the stack, they all do the same, but only part 0 acts.
template <class Judge, class Act>
__device__ int walk_down(const Node* __restrict__ nodes, int* stack, int size, int part, int parts,
                         const Judge& judge, const Act& act) {
  bool divided = parts == 1;
  int rounds = 0, taken = 0, number = 0;
  Head head{};
  // Lanes take one node each from the top, but fewer lanes do if the children might not fit.
  const auto take = [&] {
    if (!divided && (size >= kEnough || rounds++ == kRounds)) {
      size = divide(stack, size, part, parts);
      divided = true;
    }
    taken = min(min(size, 32), max(kStack - kDepth - size, 1));
    size -= taken;
    if (taken == 0) return;
    number = stack[size + min(lane(), taken - 1)];
    head = head_of(nodes[number]);
  };
  __syncwarp();  // the first nodes have been written to the stack
  take();
  while (taken > 0) {
    const int judged = number;
    const Fate fate = judge(head, lane() < taken);
    const unsigned opened = __ballot_sync(kAllLanes, fate == Fate::opened);
    __syncwarp();  // every lane has read the stack
    if (fate == Fate::opened) {
      int* const children = stack + size + 2 * rank_among(opened);
      children[0] = head.left;
      children[1] = head.right;
    }
    size += 2 * __popc(opened);
    const bool acts = divided || part == 0;
    __syncwarp();  // the stack has been written
    take();        // the next heads are loaded while act() computes
    const bool more = act(acts ? fate : Fate::none, judged);
    __syncwarp();  // tiles have been read
    if (!more) break;
  }
  return size + taken;
}

}  // namespace walk
