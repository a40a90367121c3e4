// The atomic operations of instrumented code: carried out, and counted as one access each. Some
// CUDA atomics are a load and a weak compare-and-swap here; the load is not counted.
#include "tracer.h"

namespace {

using hostcuda::trace::How;
using hostcuda::trace::Kind;
using hostcuda::trace::tracer;

bool releases(int order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

// The builtins take any integer; the instrumentation has one function per size.
template <class Integer>
volatile Integer* counted(volatile Integer* p, int order, bool reads, const void* caller,
                          bool compares = false) {
  How how{Kind::atomic};
  how.reads = reads;
  how.releases = releases(order);
  how.compares = compares;
  if (tracer)
    tracer->access(const_cast<const Integer*>(p), sizeof(Integer), sizeof(Integer), how, caller);
  return p;
}

}  // namespace

#define COUNTED(p) counted(p, order, true, __builtin_return_address(0))
#define ORDER __ATOMIC_SEQ_CST

#define UPDATE(Type, bits, operation)                                               \
  Type __tsan_atomic##bits##_##operation(volatile Type* p, Type value, int order) { \
    return __atomic_##operation(COUNTED(p), value, ORDER);                          \
  }
#define COMPARE_EXCHANGE(Type, bits, strength, of_program)                                        \
  int __tsan_atomic##bits##_compare_exchange_##strength(volatile Type* p, Type* expected,         \
                                                        Type value, int order, int) {             \
    return __atomic_compare_exchange_n(                                                           \
        counted(p, order, true, __builtin_return_address(0), of_program), expected, value, false, \
        ORDER, ORDER);                                                                            \
  }
#define ATOMICS(Type, bits)                                                                  \
  Type __tsan_atomic##bits##_load(const volatile Type* p, int) {                             \
    if (tracer) tracer->acquire(const_cast<const Type*>(p));                                 \
    return __atomic_load_n(p, ORDER);                                                        \
  }                                                                                          \
  void __tsan_atomic##bits##_store(volatile Type* p, Type value, int order) {                \
    if (tracer) tracer->release(const_cast<const Type*>(p), releases(order));                \
    __atomic_store_n(p, value, ORDER);                                                       \
  }                                                                                          \
  Type __tsan_atomic##bits##_exchange(volatile Type* p, Type value, int order) {             \
    return __atomic_exchange_n(counted(p, order, false, __builtin_return_address(0)), value, \
                               ORDER);                                                       \
  }                                                                                          \
  UPDATE(Type, bits, fetch_add)                                                              \
  UPDATE(Type, bits, fetch_sub)                                                              \
  UPDATE(Type, bits, fetch_and)                                                              \
  UPDATE(Type, bits, fetch_or)                                                               \
  UPDATE(Type, bits, fetch_xor)                                                              \
  COMPARE_EXCHANGE(Type, bits, strong, true)                                                 \
  COMPARE_EXCHANGE(Type, bits, weak, false)

extern "C" {
ATOMICS(unsigned char, 8)
ATOMICS(unsigned short, 16)
ATOMICS(unsigned, 32)
ATOMICS(unsigned long, 64)

void __tsan_atomic_thread_fence(int) {
  if (tracer) tracer->fence();
  __atomic_thread_fence(ORDER);
}
void __tsan_atomic_signal_fence(int) {}
}
