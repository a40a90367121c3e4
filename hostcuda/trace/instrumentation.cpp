// Code that was compiled with g++ -fsanitize=thread calls these functions. A traced program is
// compiled with this option but linked without it, so this file replaces the ThreadSanitizer
// library.
#include <cstddef>
#include <utility>

#include "execution/block.h"
#include "execution/watchdog.h"
#include "tracer.h"

using hostcuda::trace::How;
using hostcuda::trace::Kind;
using hostcuda::trace::kMaxAccess;
using hostcuda::trace::kWordBytes;
using hostcuda::trace::tracer;
using hostcuda::trace::Trail;

namespace {

// True for a local variable of the running function or of one of its direct callers. The
// tracer ignores these variables, because a GPU usually keeps them in registers. Local variables
// further up the stack are recognised later.
[[gnu::always_inline]] inline bool is_local(const void* p) {
  constexpr std::size_t kSmallestPage = 4096;
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  return static_cast<std::size_t>(static_cast<const char*>(p) - here) < kSmallestPage &&
         !hostcuda::hang_is_to_be_reported;
}

inline void tell(const void* p, unsigned bytes, unsigned piece, How how, const void* caller) {
  if (tracer) tracer->access(p, bytes, piece, how, caller);
}
inline void tell_store(const void* p, unsigned bytes, unsigned piece, const void* caller) {
  if (!is_local(p)) tell(p, bytes, piece, {Kind::store}, caller);
}
// Handles a load of kBytes bytes at once.
template <unsigned kBytes>
inline void tell_load(const void* p, const void* caller) {
  if (is_local(p)) return;
  if constexpr (kBytes >= kWordBytes) {
    if (Trail::follow(p, kBytes / kWordBytes, caller)) return;
    if (tracer) tracer->load<kBytes>(p, caller);
  } else {
    tell(p, kBytes, kBytes, {Kind::load}, caller);
  }
}

bool releases(int order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

// The thread whose next atomic has the scope of its block. The thread may let others run before.
struct {
  const hostcuda::BlockRunner* block;
  unsigned thread;
} narrow;

bool takes_scope_of_block() {
  if (!narrow.block || narrow.block != hostcuda::running_block ||
      narrow.thread != hostcuda::running_block->current_number())
    return false;
  narrow.block = nullptr;
  return true;
}

// The atomic builtins accept any integer, but the instrumentation calls a separate function for
// each size.
template <class Integer>
volatile Integer* counted(volatile Integer* p, int order, bool reads, const void* caller,
                          bool compares = false) {
  How how{Kind::atomic};
  how.reads = reads;
  how.releases = releases(order);
  how.compares = compares;
  how.of_block = takes_scope_of_block();
  if (tracer)
    tracer->access(const_cast<const Integer*>(p), sizeof(Integer), sizeof(Integer), how, caller);
  return p;
}

// A load or a store of cuda::atomic.
template <class Integer>
volatile Integer* access_atomically(const volatile Integer* p, Kind kind, int order,
                                    const void* caller) {
  How how{kind};
  how.is_atomic = true;
  how.releases = kind == Kind::store && releases(order);
  how.of_block = takes_scope_of_block();
  auto* address = const_cast<Integer*>(p);
  if (tracer && hostcuda::running_block)
    tracer->access(address, sizeof(Integer), sizeof(Integer), how, caller);
  return address;
}

// True if the operation must leave memory as it is. The caller then returns what memory holds.
inline bool is_skipped(const volatile void* p) {
  return tracer && tracer->skips_atomic(const_cast<const void*>(p));
}

template <class Integer>
Integer exchange(volatile Integer* p, Integer value) {
  return is_skipped(p) ? __atomic_load_n(p, __ATOMIC_SEQ_CST)
                       : __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);
}

template <class Integer>
int compare_exchange(volatile Integer* p, Integer* expected, Integer value) {
  if (!is_skipped(p))
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  const Integer seen = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  return std::exchange(*expected, seen) == seen;
}

}  // namespace

#define CALLER __builtin_return_address(0)

// See hostcuda/device_functions.h and hostcuda/traced_vectors.h.
namespace hostcuda {
void next_atomic_is_of_block() {
  if (running_block) narrow = {running_block, running_block->current_number()};
}
void vector_copied(const void* from, const void* to, std::size_t size, const void* caller) {
  if (size == kMaxAccess)
    tell_load<kMaxAccess>(from, caller);
  else
    tell(from, static_cast<unsigned>(size), kMaxAccess, {Kind::load}, caller);
  tell_store(to, static_cast<unsigned>(size), kMaxAccess, caller);
}
}  // namespace hostcuda

extern "C" {

// Every instrumented file calls this before main.
void __tsan_init() { hostcuda::trace::start(); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** p, void*) { tell(p, sizeof *p, sizeof *p, {Kind::store}, CALLER); }
void __tsan_vptr_read(void**) {}

// These functions report copies of unaligned structs of sixteen bytes or more. nvcc copies such
// structs word by word, because a struct of floats is aligned to only four bytes.
void __tsan_read_range(void* p, std::size_t size) {
  tell(p, static_cast<unsigned>(size), kWordBytes, {Kind::load}, CALLER);
}
void __tsan_write_range(void* p, std::size_t size) {
  tell(p, static_cast<unsigned>(size), kWordBytes, {Kind::store}, CALLER);
}

#define HOSTCUDA_TOLD(function, bytes, piece, ...) \
  void __tsan_##function##bytes(void* p) { tell(p, bytes, piece, {__VA_ARGS__}, CALLER); }
#define HOSTCUDA_TRACED(bytes)                                                \
  void __tsan_read##bytes(void* p) { tell_load<bytes>(p, CALLER); }           \
  void __tsan_write##bytes(void* p) { tell_store(p, bytes, bytes, CALLER); }  \
  HOSTCUDA_TOLD(unaligned_read, bytes, kWordBytes, Kind::load)                \
  HOSTCUDA_TOLD(unaligned_write, bytes, kWordBytes, Kind::store)              \
  HOSTCUDA_TOLD(volatile_read, bytes, bytes, Kind::load, true)                \
  HOSTCUDA_TOLD(volatile_write, bytes, bytes, Kind::store, true)              \
  HOSTCUDA_TOLD(unaligned_volatile_read, bytes, kWordBytes, Kind::load, true) \
  HOSTCUDA_TOLD(unaligned_volatile_write, bytes, kWordBytes, Kind::store, true)
HOSTCUDA_TRACED(1)
HOSTCUDA_TRACED(2)
HOSTCUDA_TRACED(4)
HOSTCUDA_TRACED(8)
HOSTCUDA_TRACED(16)
#undef HOSTCUDA_TRACED

// The C library is not instrumented, so the linker (--wrap) replaces memcpy and similar functions
// with the functions defined here, which report the copies of host code. Copies of structs in
// kernels are reported elsewhere.
#define HOSTCUDA_COPIES(function)                                                \
  void* __real_##function(void* to, const void* from, std::size_t size);         \
  void* __wrap_##function(void* to, const void* from, std::size_t size) {        \
    if (tracer && !hostcuda::running_block && size) {                            \
      tell(from, static_cast<unsigned>(size), kMaxAccess, {Kind::load}, CALLER); \
      tell(to, static_cast<unsigned>(size), kMaxAccess, {Kind::store}, CALLER);  \
    }                                                                            \
    return __real_##function(to, from, size);                                    \
  }
HOSTCUDA_COPIES(memcpy)
HOSTCUDA_COPIES(memmove)
#undef HOSTCUDA_COPIES

// These functions execute atomic operations, each of which counts as one access. hostcuda
// implements some CUDA atomics as an unobserved load and a weak compare-and-swap. A strong
// compare-and-swap therefore comes from the program itself.
#define COUNTED(p) counted(p, order, true, CALLER)
#define ORDER __ATOMIC_SEQ_CST

#define UPDATE(Type, bits, operation)                                               \
  Type __tsan_atomic##bits##_##operation(volatile Type* p, Type value, int order) { \
    return is_skipped(COUNTED(p)) ? __atomic_load_n(p, ORDER)                       \
                                  : __atomic_##operation(p, value, ORDER);          \
  }
#define COMPARE_EXCHANGE(Type, bits, strength, of_program)                                 \
  int __tsan_atomic##bits##_compare_exchange_##strength(volatile Type* p, Type* expected,  \
                                                        Type value, int order, int) {      \
    return compare_exchange(counted(p, order, true, CALLER, of_program), expected, value); \
  }
#define ATOMICS(Type, bits)                                                           \
  Type __tsan_atomic##bits##_load(const volatile Type* p, int order) {                \
    return __atomic_load_n(access_atomically(p, Kind::load, order, CALLER), ORDER);   \
  }                                                                                   \
  void __tsan_atomic##bits##_store(volatile Type* p, Type value, int order) {         \
    __atomic_store_n(access_atomically(p, Kind::store, order, CALLER), value, ORDER); \
  }                                                                                   \
  Type __tsan_atomic##bits##_exchange(volatile Type* p, Type value, int order) {      \
    return exchange(counted(p, order, false, CALLER), value);                         \
  }                                                                                   \
  UPDATE(Type, bits, fetch_add)                                                       \
  UPDATE(Type, bits, fetch_sub)                                                       \
  UPDATE(Type, bits, fetch_and)                                                       \
  UPDATE(Type, bits, fetch_or)                                                        \
  UPDATE(Type, bits, fetch_xor)                                                       \
  COMPARE_EXCHANGE(Type, bits, strong, true)                                          \
  COMPARE_EXCHANGE(Type, bits, weak, false)

ATOMICS(unsigned char, 8)
ATOMICS(unsigned short, 16)
ATOMICS(unsigned, 32)
ATOMICS(unsigned long, 64)

// hostcuda's headers make a fence of a block with this order, and all others with __ATOMIC_SEQ_CST.
void __tsan_atomic_thread_fence(int order) {
  if (tracer) tracer->fence(order == __ATOMIC_ACQ_REL);
  __atomic_thread_fence(ORDER);
}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
