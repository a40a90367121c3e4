// hostcuda's cooperative groups: blocks, clusters, grids, tiles of a warp, and coalesced threads.
//
// A tile or a coalesced group is stored as a mask of lanes, and its operations are warp functions.
#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

namespace details {
using hostcuda::block_size;
using hostcuda::rank_in_block;
inline unsigned lane() { return rank_in_block() % 32; }
inline unsigned lanes_below(unsigned mask) {
  return static_cast<unsigned>(__builtin_popcount(mask & ((1u << lane()) - 1)));
}
// Returns the lane of the n-th bit that is set in the mask.
inline int lane_of(unsigned mask, unsigned n) {
  for (; n > 0; --n) mask &= mask - 1;
  return mask ? __builtin_ctz(mask) : 0;
}
}  // namespace details

// A group of threads of one warp, stored as a mask of lanes. A rank is a thread's index in the
// group.
class lanes_group {
 public:
  explicit lanes_group(unsigned mask) : mask_(mask) {}
  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return details::lanes_below(mask_); }
  void sync(HOSTCUDA_HERE) const { __syncwarp(mask_, file, line); }

  template <class T>
  T shfl(T value, int source, HOSTCUDA_HERE) const {
    const unsigned rank = static_cast<unsigned>(source) % size();
    return hostcuda::shuffle(mask_, value, details::lane_of(mask_, rank), file, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, HOSTCUDA_HERE) const {
    const unsigned rank = thread_rank() + delta;
    return from_rank(value, rank < size() ? rank : thread_rank(), file, line);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, HOSTCUDA_HERE) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank >= delta ? rank - delta : rank, file, line);
  }
  template <class T>
  T shfl_xor(T value, unsigned bits, HOSTCUDA_HERE) const {
    const unsigned rank = thread_rank() ^ bits;
    return from_rank(value, rank < size() ? rank : thread_rank(), file, line);
  }
  int any(int predicate, HOSTCUDA_HERE) const { return ballot(predicate, file, line) != 0; }
  int all(int predicate, HOSTCUDA_HERE) const { return ballot(!predicate, file, line) == 0; }
  unsigned ballot(int predicate, HOSTCUDA_HERE) const {
    return packed(__ballot_sync(mask_, predicate, file, line));
  }
  template <class T>
  unsigned match_any(T value, HOSTCUDA_HERE) const {
    return packed(__match_any_sync(mask_, value, file, line));
  }
  template <class T>
  unsigned match_all(T value, int& all_same, HOSTCUDA_HERE) const {
    return packed(__match_all_sync(mask_, value, &all_same, file, line));
  }
  unsigned lanes() const { return mask_; }

 private:
  template <class T>
  T from_rank(T value, unsigned rank, const char* file, int line) const {
    return hostcuda::shuffle(mask_, value, details::lane_of(mask_, rank), file, line);
  }
  // Removes the bits of other lanes: bit r of the result is the bit of the lane with rank r.
  unsigned packed(unsigned lanes) const {
    unsigned ranks = 0, bit = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (mask_ >> lane & 1) ranks |= (lanes >> lane & 1) << bit++;
    return ranks;
  }

  unsigned mask_;
};

class thread_block {
 public:
  static void sync(HOSTCUDA_HERE) { __syncthreads(file, line); }
  static unsigned thread_rank() { return details::rank_in_block(); }
  static unsigned size() { return details::block_size(); }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
  // The wait is a whole barrier: it also waits for what other threads do after they arrived.
  struct arrival_token {};
  static arrival_token barrier_arrive() { return {}; }
  static void barrier_wait(arrival_token, HOSTCUDA_HERE) { __syncthreads(file, line); }
};
inline thread_block this_thread_block() { return {}; }

// A barrier across blocks: sync(), or its two halves, arrive and wait.
template <hostcuda::Scope kScope>
class blocks_group {
 public:
  static void sync(HOSTCUDA_HERE) { hostcuda::sync_blocks(kScope, file, line); }
  struct arrival_token {};
  static arrival_token barrier_arrive(HOSTCUDA_HERE) {
    hostcuda::arrive_at(kScope, file, line);
    return {};
  }
  static void barrier_wait(arrival_token = {}, HOSTCUDA_HERE) {
    hostcuda::wait_at(kScope, file, line);
  }
};

class grid_group : public blocks_group<hostcuda::Scope::grid> {
 public:
  static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                            (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long thread_rank() {
    return block_rank() * details::block_size() + details::rank_in_block();
  }
  static unsigned long long size() { return num_blocks() * details::block_size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
  static bool is_valid() { return hostcuda::launch_is_cooperative(); }
};
inline grid_group this_grid() { return {}; }

class cluster_group : public blocks_group<hostcuda::Scope::cluster> {
 public:
  static dim3 dim_blocks() { return hostcuda::cluster_shape(); }
  static unsigned num_blocks() {
    const dim3 shape = dim_blocks();
    return shape.x * shape.y * shape.z;
  }
  static dim3 block_index() {
    const dim3 shape = dim_blocks();
    return dim3(blockIdx.x % shape.x, blockIdx.y % shape.y, blockIdx.z % shape.z);
  }
  static unsigned block_rank() {
    const dim3 shape = dim_blocks(), at = block_index();
    return at.x + shape.x * (at.y + shape.y * at.z);
  }
  static dim3 dim_threads() {
    const dim3 shape = dim_blocks();
    return dim3(shape.x * blockDim.x, shape.y * blockDim.y, shape.z * blockDim.z);
  }
  static dim3 thread_index() {
    const dim3 at = block_index();
    return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y,
                at.z * blockDim.z + threadIdx.z);
  }
  static unsigned num_threads() { return num_blocks() * details::block_size(); }
  static unsigned size() { return num_threads(); }
  static unsigned thread_rank() {
    return block_rank() * details::block_size() + details::rank_in_block();
  }
  // Returns the address of `variable` in another block's shared memory (distributed shared memory).
  template <class T>
  static T* map_shared_rank(T* address, int rank, HOSTCUDA_HERE) {
    return static_cast<T*>(
        hostcuda::map_shared(const_cast<void*>(static_cast<const volatile void*>(address)),
                             static_cast<unsigned>(rank), file, line));
  }
};
inline cluster_group this_cluster() { return {}; }

// kOfWarps: true for a tile that is larger than a warp (cooperative_groups/large_tiles.h).
template <unsigned kSize, class Parent = void, bool kOfWarps = (kSize > 32)>
class thread_block_tile;

namespace details {

// The number of threads in the group that is divided into tiles: in a tile, or in the block.
template <class Parent>
struct PartedGroup {
  static unsigned size() { return block_size(); }
};
template <unsigned kSize, class Parent, bool kOfWarps>
struct PartedGroup<thread_block_tile<kSize, Parent, kOfWarps>> {
  static unsigned size() { return kSize; }
};

// The number of a tile within the group that was divided, and the number of its tiles.
template <unsigned kSize, class Parent>
class TileNumber {
 public:
  static unsigned meta_group_rank() {
    return rank_in_block() % PartedGroup<Parent>::size() / kSize;
  }
  static unsigned meta_group_size() { return (PartedGroup<Parent>::size() + kSize - 1) / kSize; }
};
// A tile whose type does not name the divided group.
template <unsigned kSize>
class TileNumber<kSize, void> {
 public:
  TileNumber() : TileNumber(rank_in_block() / kSize, (block_size() + kSize - 1) / kSize) {}
  TileNumber(unsigned rank, unsigned size) : rank_(rank), size_(size) {}
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return size_; }

 private:
  unsigned rank_, size_;
};

}  // namespace details

template <unsigned kSize, class Parent, bool kOfWarps>
class thread_block_tile : public lanes_group, public details::TileNumber<kSize, Parent> {
  static_assert((kSize & (kSize - 1)) == 0, "hostcuda: a tile's size must be a power of two");

 public:
  thread_block_tile() : lanes_group(own_lanes()) {}
  template <class Other>
  thread_block_tile(const thread_block_tile<kSize, Other>& other)
      : lanes_group(other.lanes()),
        details::TileNumber<kSize, Parent>(other.meta_group_rank(), other.meta_group_size()) {}
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned thread_rank() { return details::rank_in_block() % kSize; }

 private:
  static unsigned own_lanes() {
    const unsigned first = details::lane() / kSize * kSize;
    const unsigned all = kSize == 32 ? 0xffffffffu : ((1u << kSize % 32) - 1) << first;
    return all & hostcuda::existing_lanes();
  }
};

class coalesced_group : public lanes_group {
 public:
  // meta_rank, meta_size: the group's number among those into which another group was divided.
  explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : lanes_group(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

 private:
  unsigned meta_rank_, meta_size_;
};
inline coalesced_group coalesced_threads(HOSTCUDA_HERE) {
  return coalesced_group(__activemask(file, line));
}

// Any group: a whole block, or some lanes of a warp.
class thread_group {
 public:
  thread_group(const thread_block&) : is_block_(true), lanes_(0xffffffffu) {}
  thread_group(const lanes_group& lanes) : is_block_(false), lanes_(lanes) {}
  unsigned size() const { return is_block_ ? details::block_size() : lanes_.size(); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const {
    return is_block_ ? details::rank_in_block() : lanes_.thread_rank();
  }
  void sync(HOSTCUDA_HERE) const {
    is_block_ ? __syncthreads(file, line) : lanes_.sync(file, line);
  }
  template <class T>
  T shfl(T value, int source, HOSTCUDA_HERE) const {
    return lanes_.shfl(value, source, file, line);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, HOSTCUDA_HERE) const {
    return lanes_.shfl_down(value, delta, file, line);
  }
  // The lanes of this warp that are in the group.
  unsigned lanes() const { return is_block_ ? hostcuda::existing_lanes() : lanes_.lanes(); }

 private:
  bool is_block_;
  lanes_group lanes_;
};

}  // namespace cooperative_groups

#include "cooperative_groups/large_tiles.h"

namespace cooperative_groups {

template <unsigned kSize, class Group>
thread_block_tile<kSize, Group> tiled_partition(const Group&) {
  return {};
}
// Divides a group of lanes by their ranks. The last part may have fewer threads.
inline coalesced_group tiled_partition(const coalesced_group& group, unsigned size) {
  const unsigned first = group.thread_rank() / size * size;
  unsigned lanes = 0;
  for (unsigned rank = first; rank < first + size && rank < group.size(); ++rank)
    lanes |= 1u << details::lane_of(group.lanes(), rank);
  return coalesced_group(lanes, first / size, (group.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& group, unsigned size) {
  return tiled_partition(coalesced_group(group.lanes()), size);
}
// Groups the threads of a tile that pass the same label. The groups are numbered in the order of
// their first lanes.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, HOSTCUDA_HERE) {
  const unsigned same = __match_any_sync(group.lanes(), label, file, line);
  const unsigned first = same & (0 - same);  // the bit of the first lane
  const unsigned leaders = __ballot_sync(group.lanes(), first == 1u << details::lane(), file, line);
  return coalesced_group(same, static_cast<unsigned>(__builtin_popcount(leaders & (first - 1))),
                         static_cast<unsigned>(__builtin_popcount(leaders)));
}
// The threads with a true predicate are group 1, unless all threads are in one group.
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, HOSTCUDA_HERE) {
  const unsigned all = group.lanes(), yes = __ballot_sync(all, predicate, file, line);
  if (yes == all || yes == 0) return coalesced_group(all);
  return coalesced_group(predicate ? yes : all & ~yes, predicate, 2);
}
template <class Group>
coalesced_group labeled_partition(const Group& group, bool label, HOSTCUDA_HERE) {
  return binary_partition(group, label, file, line);
}

// One thread of the group calls the function; with _broadcast, all threads get its result.
template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.size();
}
template <class Group>
void sync(const Group& group, HOSTCUDA_HERE) {
  group.sync(file, line);
}

}  // namespace cooperative_groups
