// hostcuda: tiles of several warps, as tiled_partition<64> to tiled_partition<1024> return them.
//
// The warps of a tile meet at a barrier in shared memory, and exchange values there.
#pragma once

#include "../cooperative_groups.h"
#include "../cuda/atomic"
#include "../hostcuda/launch.h"

namespace cooperative_groups {

// Room that a GPU before compute capability 8.0 needs for such tiles. Here, as on newer GPUs, a
// tile needs no such variable.
template <unsigned kMaxBlockSize = 1024>
struct block_tile_memory {
  unsigned char unused[16];
};
template <unsigned kMaxBlockSize>
thread_block this_thread_block(block_tile_memory<kMaxBlockSize>&) {
  return {};
}

namespace details {

class TileBarrier {
 public:
  void start() {
    arrived_.store(0, cuda::memory_order_relaxed);
    phase_.store(0, cuda::memory_order_relaxed);
  }
  void sync(unsigned expected) {
    const unsigned phase = phase_.load(cuda::memory_order_acquire);
    if (arrived_.fetch_add(1, cuda::memory_order_acq_rel) + 1 == expected) {
      arrived_.store(0, cuda::memory_order_relaxed);
      phase_.store(phase + 1, cuda::memory_order_release);
      return;
    }
    while (phase_.load(cuda::memory_order_acquire) == phase) hostcuda::yield();
  }

 private:
  cuda::atomic<unsigned, cuda::thread_scope_block> arrived_, phase_;
};

// The shared memory of a block's tiles. A tile uses the barrier of its first 64 threads, and each
// warp has a slot.
struct TileMemory {
  TileBarrier barriers[16];
  struct alignas(16) Slot {
    unsigned char bytes[hostcuda::kMaxShuffleBytes];
  } slots[32];
};
inline TileMemory& tile_memory() {
  static thread_local TileMemory memory;
  static thread_local unsigned seen;
  if (seen != hostcuda::block_sequence) {
    seen = hostcuda::block_sequence;
    // It does not count, because current GPUs need no such memory.
    if (hostcuda::begin_shared_variable(&memory, sizeof memory, "memory of tiles", false))
      for (TileBarrier& barrier : memory.barriers) barrier.start();
  }
  return memory;
}

template <class Group>
constexpr bool kIsLarge = false;
template <unsigned kSize, class Parent>
constexpr bool kIsLarge<thread_block_tile<kSize, Parent, true>> = true;

}  // namespace details

template <unsigned kSize, class Parent>
class thread_block_tile<kSize, Parent, true> : public details::TileNumber<kSize, Parent> {
  static_assert((kSize & (kSize - 1)) == 0 && kSize <= 1024,
                "hostcuda: a tile's size must be a power of two, at most 1024 threads");

 public:
  thread_block_tile() = default;
  template <class Other>
  thread_block_tile(const thread_block_tile<kSize, Other, true>& other)
      : details::TileNumber<kSize, Parent>(other.meta_group_rank(), other.meta_group_size()) {}
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned thread_rank() { return details::rank_in_block() % kSize; }

  static void sync(HOSTCUDA_HERE) {
    if (details::block_size() <= kSize)
      __syncthreads(file, line);
    else
      details::tile_memory().barriers[first_thread() / 64].sync(existing_threads());
  }

  template <class T>
  static T shfl(T value, int source, HOSTCUDA_HERE) {
    return from_rank(value, static_cast<unsigned>(source) % kSize, file, line);
  }
  template <class T>
  static T shfl_down(T value, unsigned delta, HOSTCUDA_HERE) {
    const unsigned rank = thread_rank() + delta;
    return from_rank(value, rank < kSize ? rank : thread_rank(), file, line);
  }
  template <class T>
  static T shfl_up(T value, unsigned delta, HOSTCUDA_HERE) {
    const unsigned rank = thread_rank();
    return from_rank(value, rank >= delta ? rank - delta : rank, file, line);
  }
  template <class T>
  static T shfl_xor(T value, unsigned bits, HOSTCUDA_HERE) {
    return from_rank(value, (thread_rank() ^ bits) % kSize, file, line);
  }
  static int any(int predicate, HOSTCUDA_HERE) {
    return reduce(
        predicate != 0, [](int a, int b) { return a | b; }, file, line);
  }
  static int all(int predicate, HOSTCUDA_HERE) {
    return reduce(
        predicate != 0, [](int a, int b) { return a & b; }, file, line);
  }

  // Reduces each warp, and then the results of the warps, in the order of the ranks.
  template <class T, class Operation>
  static T reduce(T value, const Operation& operation, HOSTCUDA_HERE) {
    const unsigned lanes = hostcuda::existing_lanes();
    const T of_warp = hostcuda::fold(hostcuda::gather(lanes, value, file, line), lanes, operation);
    put(warp(), of_warp, file, line);
    T result = get<T>(first_thread() / 32);
    for (unsigned other = 1; other < warps(); ++other)
      result = operation(result, get<T>(first_thread() / 32 + other));
    sync(file, line);  // a slot must not change before all threads have read it
    return result;
  }
  // own: whether the result of a thread includes its own value.
  template <class T, class Operation>
  static T scan(T value, const Operation& operation, bool own, const char* file, int line) {
    const unsigned lanes = hostcuda::existing_lanes(), me = 1u << details::lane();
    const auto all = hostcuda::gather(lanes, value, file, line);
    put(warp(), hostcuda::fold(all, lanes, operation), file, line);
    T result{};
    bool any = false;
    const auto append = [&](const T& next) {
      result = any ? operation(result, next) : next;
      any = true;
    };
    for (unsigned other = first_thread() / 32; other < warp(); ++other) append(get<T>(other));
    if (const unsigned before = lanes & (own ? me | (me - 1) : me - 1))
      append(hostcuda::fold(all, before, operation));
    sync(file, line);
    return result;
  }

 private:
  static unsigned first_thread() { return details::rank_in_block() / kSize * kSize; }
  static unsigned existing_threads() {
    const unsigned left = details::block_size() - first_thread();
    return left < kSize ? left : kSize;
  }
  static unsigned warp() { return details::rank_in_block() / 32; }
  static unsigned warps() { return (existing_threads() + 31) / 32; }

  // Lets the first lane write the slot of its warp, and waits for all warps.
  template <class T>
  static void put(unsigned slot, const T& value, const char* file, int line) {
    static_assert(sizeof value <= hostcuda::kMaxShuffleBytes, "hostcuda: at most 32 bytes");
    if (details::lane() == 0)
      *reinterpret_cast<T*>(details::tile_memory().slots[slot].bytes) = value;
    sync(file, line);
  }
  template <class T>
  static T get(unsigned slot) {
    return *reinterpret_cast<const T*>(details::tile_memory().slots[slot].bytes);
  }
  // One warp after the other writes the values of its lanes to the tile's slots; a thread reads
  // when it is the turn of the warp that has its value. A tile has a slot for each of its warps, so
  // a warp writes in several steps.
  template <class T>
  static T from_rank(T value, unsigned rank, const char* file, int line) {
    T result = value;
    const unsigned slots = warps(), first = first_thread() / 32;
    for (unsigned begin = 0; begin < existing_threads(); begin += slots) {
      const unsigned mine = thread_rank() - begin;
      if (mine < slots)
        *reinterpret_cast<T*>(details::tile_memory().slots[first + mine].bytes) = value;
      sync(file, line);
      if (rank - begin < slots) result = get<T>(first + rank - begin);
      sync(file, line);
    }
    return result;
  }
};

}  // namespace cooperative_groups
