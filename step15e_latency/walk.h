// A walk of the tree by a warp, which loads the next nodes while it acts on the present ones.
#pragma once

#include "nbody/cuda.h"
#include "nbody/step.h"
#include "step15_barnes_hut/tree.h"
#include "step15d_series/expansion.h"

namespace walk {
using namespace nbody;
using expansion::kAllLanes;
using expansion::lane;
using expansion::rank_among;
using tree::Node;

constexpr int kStack = TUNABLE(STACK, 512);  // nodes on the stack
// The bodies of a node share more bits (of keys, then of indices) than its parent's bodies, so
// opening one node at a time never takes more stack than this.
constexpr int kDepth = 3 * kCoordinateBits + 32;

// Nodes in shared memory that a warp has yet to look at.
struct Stack {
  int* nodes;
  int size;

  // Takes nodes from the top and returns their number: one for each lane, but fewer if the children
  // might not fit.
  __device__ int take() {
    const int taken = min(min(size, 32), max(kStack - kDepth - size, 1));
    size -= taken;
    return taken;
  }
};

enum class Fate { none, opened, expanded, accepted, listed };

// Walks down from the nodes on the stack: each lane takes a node, judge() decides the node's fate
// from its head, and act() does everything except opening the node. Ends when the stack is empty or
// act() returns false, as in step 16 if its list is full; then the other nodes stay on the stack.
// AnyStack has nodes, size and take().
template <class Head, class AnyStack, class Judge, class Act>
__device__ void walk_down(const Node* __restrict__ nodes, AnyStack& stack, const Judge& judge,
                          const Act& act) {
  int taken = 0, number = 0;
  Head head{};
  const auto take = [&] {
    taken = stack.take();
    if (taken == 0) return;
    number = stack.nodes[stack.size + min(lane(), taken - 1)];
    head = Head::of(nodes[number]);
  };
  __syncwarp();  // the first nodes have been written to the stack
  take();
  while (taken > 0) {
    const int judged = number;
    const Fate fate = judge(head, lane() < taken);
    const unsigned opened = __ballot_sync(kAllLanes, fate == Fate::opened);
    __syncwarp();  // every lane has read the stack
    if (fate == Fate::opened) {
      int* const children = stack.nodes + stack.size + 2 * rank_among(opened);
      children[0] = head.left;
      children[1] = head.right;
    }
    stack.size += 2 * __popc(opened);
    __syncwarp();  // the stack has been written
    take();        // the next heads are loaded while act() computes
    const bool more = act(fate, judged);
    __syncwarp();  // tiles have been read
    if (!more) break;
  }
  stack.size += taken;
}

}  // namespace walk
