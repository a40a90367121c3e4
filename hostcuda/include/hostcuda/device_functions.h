// hostcuda: barriers, warp functions, atomics and fences.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "types.h"

namespace hostcuda {

// converge: finds out which lanes have reached the same call, for callers that do not know the
// mask.
enum class WarpOperation : std::uint8_t { sync, shuffle, vote, gather, converge };

constexpr unsigned kMaxShuffleBytes = 32;

// The data that one lane contributes to a call of a warp function, and the data that it receives.
struct WarpRequest {
  WarpOperation operation;
  unsigned mask;
  int source_lane = 0;
  bool predicate = false;
  void* value = nullptr;     // the lane's value; a shuffle replaces it by another lane's value
  unsigned size = 0;         // size of the value, at most kMaxShuffleBytes
  void* gathered = nullptr;  // gather: room for the values of all 32 lanes, `size` bytes each
  unsigned ballot = 0;       // result: lanes whose predicate is true, or lanes that converged
};

void block_barrier(const char* file, int line);

// A barrier waits for all threads of its scope.
enum class Scope : std::uint8_t { block, cluster, grid };
void sync_blocks(Scope scope, const char* file, int line);
void arrive_at(Scope scope, const char* file, int line);
void wait_at(Scope scope, const char* file, int line);

dim3 cluster_shape();  // returns {1, 1, 1} without clusters
bool launch_is_cooperative();
// Returns the address in another block's shared memory that corresponds to `address` in this block.
// rank: the other block's rank in the cluster.
void* map_shared(void* address, unsigned rank, const char* file, int line);
// to_window() returns PTX's 32-bit address of a byte in shared memory; from_window() returns the
// pointer for such an address. The 32-bit addresses form a window. Both functions end the
// process if the address is not in the running block's shared memory.
std::size_t to_window(const void* address, const char* file, int line);
void* from_window(std::size_t window, const char* file, int line);
bool is_shared(const void* address);
// A barrier; returns how many of the block's threads passed a true predicate.
unsigned counting_barrier(bool predicate, const char* file, int line);
void warp_call(WarpRequest& request, const char* file, int line);
int lane();
bool in_kernel();  // true if the caller is an emulated thread
// Ends the process, because a primitive for blocks of `threads` threads runs in a block of another
// size.
[[noreturn]] void refuse_block_size(const char* what, unsigned threads);

// Lets another thread of the block run, as the hardware does while a thread spins on an atomic.
void yield();
// The number of spins since the running thread started or resumed.
extern HOSTCUDA_OF_THREAD unsigned spins;
// The carry of the running thread's inline PTX (add.cc), which later asm statements may use.
extern HOSTCUDA_OF_THREAD bool carry;
inline void note_spin() {
  constexpr unsigned kPatience = 1000;
  if (++spins > kPatience) yield();
}
// Tells the tracer that the running thread's next atomic has the scope of its block.
void next_atomic_is_of_block();
#ifdef HOSTCUDA_TRACE
#define HOSTCUDA_TELL_SCOPE_OF_BLOCK() ::hostcuda::next_atomic_is_of_block()
#else
#define HOSTCUDA_TELL_SCOPE_OF_BLOCK() static_cast<void>(0)
#endif

// Acts like a failed assertion: the grid ends, and from then on the API returns the error.
[[noreturn]] void trap(const char* file, int line);

// True for a type that can be copied byte by byte. A traced program records the copies of vector
// types (traced_vectors.h), so C++ calls neither these types nor structs that contain them
// trivially copyable.
#ifdef HOSTCUDA_TRACE
template <class Value>
constexpr bool kIsBytes =
    std::is_copy_constructible_v<Value>&& std::is_trivially_destructible_v<Value>;
#else
template <class Value>
constexpr bool kIsBytes = std::is_trivially_copyable_v<Value>;
#endif

// Exchanges values of any type that can be copied byte by byte. The __shfl functions are restricted
// to arithmetic types, as on a GPU; cooperative groups are not.
template <class Value>
Value shuffle(unsigned mask, Value value, int source_lane, const char* file, int line) {
  static_assert(kIsBytes<Value> && sizeof value <= kMaxShuffleBytes,
                "a shuffle moves at most 32 bytes of a trivially copyable type");
  WarpRequest request{WarpOperation::shuffle, mask, source_lane, false, &value, sizeof value};
  warp_call(request, file, line);
  return value;
}

// The values of the lanes in the mask, indexed by lane. The elements of other lanes stay zero.
template <class Value>
struct Gathered {
  Value of_lane[32];
};
template <class Value>
Gathered<Value> gather(unsigned mask, Value value, const char* file, int line) {
  Gathered<Value> all{};
  WarpRequest request{WarpOperation::gather, mask, 0, true, &value, sizeof value, all.of_lane};
  warp_call(request, file, line);
  return all;
}

// Reduces in the order of the lanes, starting with the first lane in the mask.
template <class Value, class Operation>
Value fold(const Gathered<Value>& all, unsigned mask, const Operation& operation) {
  int lane = __builtin_ctz(mask);
  Value result = all.of_lane[lane];
  while (++lane < 32)
    if (mask >> lane & 1) result = operation(result, all.of_lane[lane]);
  return result;
}

template <class Value>
constexpr bool kMayShuffle = std::is_arithmetic_v<Value>;
template <class Value>
using Shuffled = std::enable_if_t<kMayShuffle<Value>, Value>;

inline unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }
inline unsigned rank_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
// Returns a mask of the lanes that exist in the running thread's warp. The last warp of a block may
// have fewer than 32 lanes.
inline unsigned existing_lanes() {
  const unsigned rank = rank_in_block(), lanes = block_size() - (rank - rank % 32);
  return lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
}

// Loads a value for a compare-and-swap, which then checks the value. A trace does not count this
// load.
template <class T>
__attribute__((no_sanitize("thread"))) inline T unobserved_load(const T* address) {
  T value;
  __atomic_load(address, &value, __ATOMIC_RELAXED);
  return value;
}

// Atomically sets *address = change(*address) and returns the old value. Writes the value even if
// it does not change, as a GPU does, so that a trace counts every atomic.
template <class T, class Change>
inline T atomic_change(T* address, const Change& change) {
  T seen = unobserved_load(address);
  T next = change(seen);
  while (
      !__atomic_compare_exchange(address, &seen, &next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    next = change(seen);
  return seen;
}

}  // namespace hostcuda

// ---- barriers -----------------------------------------------------------------------------------

HOSTCUDA_FUNCTION void __syncthreads(HOSTCUDA_HERE) { hostcuda::block_barrier(file, line); }

HOSTCUDA_FUNCTION int __syncthreads_count(int predicate, HOSTCUDA_HERE) {
  return static_cast<int>(hostcuda::counting_barrier(predicate != 0, file, line));
}
HOSTCUDA_FUNCTION int __syncthreads_or(int predicate, HOSTCUDA_HERE) {
  return __syncthreads_count(predicate, file, line) != 0;
}
HOSTCUDA_FUNCTION int __syncthreads_and(int predicate, HOSTCUDA_HERE) {
  return __syncthreads_count(!predicate, file, line) == 0;
}

HOSTCUDA_FUNCTION void __syncwarp(unsigned mask = 0xffffffffu, HOSTCUDA_HERE) {
  hostcuda::WarpRequest request{hostcuda::WarpOperation::sync, mask};
  hostcuda::warp_call(request, file, line);
}

// ---- warp functions: width divides the warp into groups that behave as small warps --------------

template <class Value>
hostcuda::Shuffled<Value> __shfl_sync(unsigned mask, Value value, int source, int width = warpSize,
                                      HOSTCUDA_HERE) {
  const int group = hostcuda::lane() & ~(width - 1);
  return hostcuda::shuffle(mask, value, group | (source & (width - 1)), file, line);
}
template <class Value>
hostcuda::Shuffled<Value> __shfl_up_sync(unsigned mask, Value value, unsigned delta,
                                         int width = warpSize, HOSTCUDA_HERE) {
  const int lane = hostcuda::lane(), source = lane - static_cast<int>(delta);
  const int group = lane & ~(width - 1);
  return hostcuda::shuffle(mask, value, source >= group ? source : lane, file, line);
}
template <class Value>
hostcuda::Shuffled<Value> __shfl_xor_sync(unsigned mask, Value value, int lane_mask,
                                          int width = warpSize, HOSTCUDA_HERE) {
  const int lane = hostcuda::lane(), source = lane ^ lane_mask;
  const int group_end = (lane & ~(width - 1)) + width;
  return hostcuda::shuffle(mask, value, source < group_end ? source : lane, file, line);
}
template <class Value>
hostcuda::Shuffled<Value> __shfl_down_sync(unsigned mask, Value value, unsigned delta,
                                           int width = warpSize, HOSTCUDA_HERE) {
  const int lane = hostcuda::lane();
  return __shfl_xor_sync(mask, value, lane ^ (lane + static_cast<int>(delta)), width, file, line);
}

HOSTCUDA_FUNCTION unsigned __ballot_sync(unsigned mask, int predicate, HOSTCUDA_HERE) {
  hostcuda::WarpRequest request{hostcuda::WarpOperation::vote, mask, 0, predicate != 0};
  hostcuda::warp_call(request, file, line);
  return request.ballot;
}

HOSTCUDA_FUNCTION int __any_sync(unsigned mask, int predicate, HOSTCUDA_HERE) {
  return __ballot_sync(mask, predicate, file, line) != 0;
}

HOSTCUDA_FUNCTION int __all_sync(unsigned mask, int predicate, HOSTCUDA_HERE) {
  return __ballot_sync(mask, !predicate, file, line) == 0;
}

template <class Value>
unsigned __match_any_sync(unsigned mask, Value value, HOSTCUDA_HERE) {
  const auto all = hostcuda::gather(mask, value, file, line);
  unsigned same = 0;
  for (int lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1) && all.of_lane[lane] == value) same |= 1u << lane;
  return same;
}

template <class Value>
unsigned __match_all_sync(unsigned mask, Value value, int* all_same, HOSTCUDA_HERE) {
  *all_same = __match_any_sync(mask, value, file, line) == mask;
  return *all_same ? mask : 0;
}

#define HOSTCUDA_REDUCE(name, Type, operation)                             \
  HOSTCUDA_FUNCTION Type name(unsigned mask, Type value, HOSTCUDA_HERE) {  \
    return hostcuda::fold(hostcuda::gather(mask, value, file, line), mask, \
                          [](Type a, Type b) { return operation; });       \
  }
HOSTCUDA_REDUCE(__reduce_add_sync, int, a + b)
HOSTCUDA_REDUCE(__reduce_add_sync, unsigned, a + b)
HOSTCUDA_REDUCE(__reduce_min_sync, int, b < a ? b : a)
HOSTCUDA_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
HOSTCUDA_REDUCE(__reduce_max_sync, int, a < b ? b : a)
HOSTCUDA_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
HOSTCUDA_REDUCE(__reduce_and_sync, unsigned, a& b)
HOSTCUDA_REDUCE(__reduce_or_sync, unsigned, a | b)
HOSTCUDA_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef HOSTCUDA_REDUCE

// Waits until no other lane can arrive, so the mask has at least the lanes that any GPU would
// return.
HOSTCUDA_FUNCTION unsigned __activemask(HOSTCUDA_HERE) {
  hostcuda::WarpRequest request{hostcuda::WarpOperation::converge, 0xffffffffu};
  hostcuda::warp_call(request, file, line);
  return request.ballot;
}

// ---- atomics: relaxed, as on a GPU, and needed because blocks run concurrently -----------------

#define HOSTCUDA_ATOMIC_INTEGER(Type)                                              \
  HOSTCUDA_FUNCTION Type atomicAdd(Type* address, Type value) {                    \
    hostcuda::note_spin();                                                         \
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);                   \
  }                                                                                \
  HOSTCUDA_FUNCTION Type atomicExch(Type* address, Type value) {                   \
    hostcuda::note_spin();                                                         \
    return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);                  \
  }                                                                                \
  HOSTCUDA_FUNCTION Type atomicCAS(Type* address, Type compare, Type value) {      \
    hostcuda::note_spin();                                                         \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, \
                                __ATOMIC_RELAXED);                                 \
    return compare;                                                                \
  }
#define HOSTCUDA_ATOMIC_ORDERED(Type)                                                             \
  HOSTCUDA_FUNCTION Type atomicMin(Type* address, Type value) {                                   \
    return hostcuda::atomic_change(address, [=](Type old) { return value < old ? value : old; }); \
  }                                                                                               \
  HOSTCUDA_FUNCTION Type atomicMax(Type* address, Type value) {                                   \
    return hostcuda::atomic_change(address, [=](Type old) { return old < value ? value : old; }); \
  }                                                                                               \
  HOSTCUDA_FUNCTION Type atomicAnd(Type* address, Type value) {                                   \
    return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);                                  \
  }                                                                                               \
  HOSTCUDA_FUNCTION Type atomicOr(Type* address, Type value) {                                    \
    hostcuda::note_spin();                                                                        \
    return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);                                   \
  }                                                                                               \
  HOSTCUDA_FUNCTION Type atomicXor(Type* address, Type value) {                                   \
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);                                  \
  }
HOSTCUDA_ATOMIC_INTEGER(int)
HOSTCUDA_ATOMIC_INTEGER(unsigned)
HOSTCUDA_ATOMIC_INTEGER(unsigned long long)
HOSTCUDA_ATOMIC_ORDERED(int)
HOSTCUDA_ATOMIC_ORDERED(unsigned)
HOSTCUDA_ATOMIC_ORDERED(long long)
HOSTCUDA_ATOMIC_ORDERED(unsigned long long)
#undef HOSTCUDA_ATOMIC_INTEGER
#undef HOSTCUDA_ATOMIC_ORDERED

HOSTCUDA_FUNCTION unsigned short atomicCAS(unsigned short* address, unsigned short compare,
                                           unsigned short value) {
  hostcuda::note_spin();
  __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
HOSTCUDA_FUNCTION int atomicSub(int* address, int value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
HOSTCUDA_FUNCTION unsigned atomicSub(unsigned* address, unsigned value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
HOSTCUDA_FUNCTION float atomicAdd(float* address, float value) {
  return hostcuda::atomic_change(address, [=](float old) { return old + value; });
}
HOSTCUDA_FUNCTION double atomicAdd(double* address, double value) {
  return hostcuda::atomic_change(address, [=](double old) { return old + value; });
}
// As on a GPU (from sm_90 on), each component is updated atomically, but not the vector as a whole.
HOSTCUDA_FUNCTION float2 atomicAdd(float2* address, float2 value) {
  return float2{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
HOSTCUDA_FUNCTION float4 atomicAdd(float4* address, float4 value) {
  return float4{atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
                atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}
HOSTCUDA_FUNCTION float atomicExch(float* address, float value) {
  float old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  return old;
}

// ---- memory and the rest ------------------------------------------------------------------------

HOSTCUDA_FUNCTION void __threadfence() {
  hostcuda::note_spin();
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
// A traced program recognises a fence of the block by this order (trace/instrumentation.cpp).
HOSTCUDA_FUNCTION void __threadfence_block() {
  hostcuda::note_spin();
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
}
HOSTCUDA_FUNCTION void __threadfence_system() { __threadfence(); }

template <class Value>
inline Value __ldg(const Value* address) {
  return *address;
}

HOSTCUDA_FUNCTION __attribute__((noreturn)) void __trap(HOSTCUDA_HERE) {
  hostcuda::trap(file, line);
}
