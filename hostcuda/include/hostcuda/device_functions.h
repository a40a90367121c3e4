// hostcuda: barriers, warp functions, atomics and fences.
//
// The defaults of the trailing file and line parameters name the caller, so that a message can say
// which barrier it means; kernels never pass them.
#ifndef HOSTCUDA_DEVICE_FUNCTIONS_H
#define HOSTCUDA_DEVICE_FUNCTIONS_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "types.h"

namespace hostcuda {

enum class WarpOperation : std::uint8_t { sync, shuffle, vote };

// One lane's part in a warp function. value holds the bytes of any arithmetic type, in and out.
struct WarpRequest {
  WarpOperation operation;
  unsigned mask;
  int source_lane = 0;
  bool predicate = false;
  std::uint64_t value = 0;
  unsigned ballot = 0;
};

void block_barrier(const char* file, int line);
void warp_call(WarpRequest& request, const char* file, int line);
int lane();

template <class Value>
Value shuffle(unsigned mask, Value value, int source_lane, const char* file, int line) {
  static_assert(std::is_arithmetic_v<Value>, "warp shuffles move arithmetic types");
  WarpRequest request{WarpOperation::shuffle, mask, source_lane};
  std::memcpy(&request.value, &value, sizeof value);
  warp_call(request, file, line);
  std::memcpy(&value, &request.value, sizeof value);
  return value;
}

template <class Integer>
inline Integer atomic_update(Integer* address, Integer desired_if,
                             bool (*replace)(Integer, Integer)) {
  Integer seen = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (replace(seen, desired_if) &&
         !__atomic_compare_exchange_n(address, &seen, desired_if, true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return seen;
}

template <class Real>
inline Real atomic_add_real(Real* address, Real value) {
  Real seen;
  __atomic_load(address, &seen, __ATOMIC_RELAXED);
  Real sum = seen + value;
  while (!__atomic_compare_exchange(address, &seen, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    sum = seen + value;
  return seen;
}

}  // namespace hostcuda

// ---- barriers -----------------------------------------------------------------------------------

static inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  hostcuda::block_barrier(file, line);
}

static inline void __syncwarp(unsigned mask = 0xffffffffu, const char* file = __builtin_FILE(),
                              int line = __builtin_LINE()) {
  hostcuda::WarpRequest request{hostcuda::WarpOperation::sync, mask};
  hostcuda::warp_call(request, file, line);
}

// ---- warp functions: width divides the warp into groups that behave as small warps --------------

template <class Value>
Value __shfl_sync(unsigned mask, Value value, int source, int width = warpSize,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const int group = hostcuda::lane() & ~(width - 1);
  return hostcuda::shuffle(mask, value, group | (source & (width - 1)), file, line);
}

template <class Value>
Value __shfl_up_sync(unsigned mask, Value value, unsigned delta, int width = warpSize,
                     const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const int lane = hostcuda::lane();
  const int source = lane - static_cast<int>(delta);
  const int group = lane & ~(width - 1);
  return hostcuda::shuffle(mask, value, source >= group ? source : lane, file, line);
}

template <class Value>
Value __shfl_down_sync(unsigned mask, Value value, unsigned delta, int width = warpSize,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const int lane = hostcuda::lane();
  const int source = lane + static_cast<int>(delta);
  const int group_end = (lane & ~(width - 1)) + width;
  return hostcuda::shuffle(mask, value, source < group_end ? source : lane, file, line);
}

template <class Value>
Value __shfl_xor_sync(unsigned mask, Value value, int lane_mask, int width = warpSize,
                      const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const int lane = hostcuda::lane();
  const int source = lane ^ lane_mask;
  const int group_end = (lane & ~(width - 1)) + width;
  return hostcuda::shuffle(mask, value, source < group_end ? source : lane, file, line);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate,
                                     const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  hostcuda::WarpRequest request{hostcuda::WarpOperation::vote, mask, 0, predicate != 0};
  hostcuda::warp_call(request, file, line);
  return request.ballot;
}

static inline int __any_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
  return __ballot_sync(mask, predicate, file, line) != 0;
}

static inline int __all_sync(unsigned mask, int predicate, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
  return __ballot_sync(mask, !predicate, file, line) == 0;
}

// Lanes run one at a time here and are never converged: only the caller is certain to be active.
static inline unsigned __activemask() { return 1u << hostcuda::lane(); }

// ---- atomics: relaxed, as on a GPU; blocks do run in parallel -----------------------------------

#define HOSTCUDA_ATOMIC_INTEGER(Type)                                              \
  static inline Type atomicAdd(Type* address, Type value) {                        \
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);                   \
  }                                                                                \
  static inline Type atomicExch(Type* address, Type value) {                       \
    return __atomic_exchange_n(address, value, __ATOMIC_RELAXED);                  \
  }                                                                                \
  static inline Type atomicCAS(Type* address, Type compare, Type value) {          \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, \
                                __ATOMIC_RELAXED);                                 \
    return compare;                                                                \
  }
#define HOSTCUDA_ATOMIC_ORDERED(Type)                                               \
  static inline Type atomicMin(Type* address, Type value) {                         \
    return hostcuda::atomic_update<Type>(address, value,                            \
                                         [](Type old, Type v) { return v < old; }); \
  }                                                                                 \
  static inline Type atomicMax(Type* address, Type value) {                         \
    return hostcuda::atomic_update<Type>(address, value,                            \
                                         [](Type old, Type v) { return old < v; }); \
  }                                                                                 \
  static inline Type atomicAnd(Type* address, Type value) {                         \
    return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);                    \
  }                                                                                 \
  static inline Type atomicOr(Type* address, Type value) {                          \
    return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);                     \
  }                                                                                 \
  static inline Type atomicXor(Type* address, Type value) {                         \
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);                    \
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

static inline int atomicSub(int* address, int value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
static inline unsigned atomicSub(unsigned* address, unsigned value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
static inline float atomicAdd(float* address, float value) {
  return hostcuda::atomic_add_real(address, value);
}
static inline double atomicAdd(double* address, double value) {
  return hostcuda::atomic_add_real(address, value);
}
static inline float atomicExch(float* address, float value) {
  float old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  return old;
}

// ---- memory and the rest ------------------------------------------------------------------------

static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <class Value>
inline Value __ldg(const Value* address) {
  return *address;
}

[[noreturn]] static inline void __trap() { abort(); }

#endif
