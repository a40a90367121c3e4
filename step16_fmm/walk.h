// A walk of the tree by one warp, or by several warps of a block that share a stack.
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
constexpr unsigned kAllLanes = 0xffffffff;

__device__ inline int lane() { return threadIdx.x % 32; }
__device__ inline int warp() { return threadIdx.x / 32; }
__device__ inline int rank_among(unsigned lanes) { return __popc(lanes & ((1u << lane()) - 1)); }

enum class Fate { none, opened, expanded, accepted, listed };

// The lanes of this warp that list a node, the number of nodes that the warps before this one list,
// and the number that all warps list.
struct Listed {
  unsigned lanes;
  int before, total;
  __device__ int place() const { return before + rank_among(lanes); }  // of this lane's node
};

// Warps of a block that walk together, with one stack in shared memory.
template <int kWarps>
struct Walk {
  const Node* __restrict__ nodes;
  int* stack;   // kStack nodes
  int* counts;  // one per warp; unused by a single warp

  // Waits for all threads that walk together.
  static __device__ void wait() { kWarps > 1 ? __syncthreads() : __syncwarp(); }

  template <class Judge, class Act>
  __device__ int down_from(int root, const Judge& judge, const Act& act) const {
    if (threadIdx.x == 0) stack[0] = root;
    return down(1, judge, act);
  }

  // Walks down from the `size` nodes on the stack: each lane takes a node, judge() decides the
  // node's fate, and act() does everything except opening the node. Ends when the stack is empty or
  // act() returns false; returns the number of nodes that are still on the stack.
  template <class Judge, class Act>
  __device__ int down(int size, const Judge& judge, const Act& act) const {
    const int thread = threadIdx.x;
    wait();  // the first nodes have been written to the stack
    while (size > 0) {
      // Lanes take one node each from the top, but fewer if the children might not fit.
      const int taken = min(min(size, 32 * kWarps), max(kStack - kDepth - size, 1));
      size -= taken;
      const int number = stack[size + min(thread, taken - 1)];
      const Node& node = nodes[number];
      const bool idle = 32 * warp() >= taken;  // the whole warp
      const Fate fate = idle ? Fate::none : judge(node, thread < taken);
      const unsigned opened = __ballot_sync(kAllLanes, fate == Fate::opened);
      const unsigned listed = __ballot_sync(kAllLanes, fate == Fate::listed);
      int before = 0, total = __popc(opened) | __popc(listed) << 16;  // two numbers in one
      if (kWarps > 1 && lane() == 0) counts[warp()] = total;
      wait();  // every lane has read the stack, and every warp has written its count
      if (kWarps > 1) {
        total = 0;
        for (int w = 0; w < kWarps; ++w) {
          before = w == warp() ? total : before;
          total += counts[w];
        }
      }
      if (fate == Fate::opened) {
        int* const children = stack + size + 2 * ((before & 0xffff) + rank_among(opened));
        children[0] = node.left;
        children[1] = node.right;
      }
      size += 2 * (total & 0xffff);
      const bool more = act(fate, number, node, Listed{listed, before >> 16, total >> 16});
      wait();  // the stack has been written, and the counts and tiles have been read
      if (!more) break;
    }
    return size;
  }
};

}  // namespace walk
