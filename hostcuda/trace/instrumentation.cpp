// hostcuda's definitions of what g++ -fsanitize=thread calls. A traced program is compiled with
// that flag and linked without it, against this file instead of ThreadSanitizer's library.
#include <cstddef>

#include "execution/block.h"
#include "trace.h"

using hostcuda::trace::How;
using hostcuda::trace::Kind;
using hostcuda::trace::kMaxAccess;
using hostcuda::trace::kWordBytes;
using hostcuda::trace::tracer;

namespace {
inline void tell(const void* p, unsigned bytes, unsigned piece, How how, const void* caller) {
  if (tracer) tracer->access(p, bytes, piece, how, caller);
}
inline void tell_load(const void* p, unsigned bytes, const void* caller) {
  if (!tracer) return;
  if (bytes == kWordBytes) return tracer->load_word(p, caller);
  tracer->access(p, bytes, bytes, {Kind::load}, caller);
}
}  // namespace

#define CALLER __builtin_return_address(0)

// See hostcuda/traced_vectors.h.
namespace hostcuda {
void vector_copied(const void* from, const void* to, std::size_t size, const void* caller) {
  tell(from, static_cast<unsigned>(size), kMaxAccess, {Kind::load}, caller);
  tell(to, static_cast<unsigned>(size), kMaxAccess, {Kind::store}, caller);
}
}  // namespace hostcuda

extern "C" {

// Called before main by every file that is instrumented.
void __tsan_init() { hostcuda::trace::start(); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** p, void*) { tell(p, sizeof *p, sizeof *p, {Kind::store}, CALLER); }
void __tsan_vptr_read(void**) {}

// Sixteen unaligned bytes, or more, are a copy of a struct. nvcc copies it in words, because a
// struct of floats promises no more than an alignment of four.
void __tsan_read_range(void* p, std::size_t size) {
  tell(p, static_cast<unsigned>(size), kWordBytes, {Kind::load}, CALLER);
}
void __tsan_write_range(void* p, std::size_t size) {
  tell(p, static_cast<unsigned>(size), kWordBytes, {Kind::store}, CALLER);
}

#define HOSTCUDA_TRACED(bytes)                                                                     \
  void __tsan_read##bytes(void* p) { tell_load(p, bytes, CALLER); }                                \
  void __tsan_write##bytes(void* p) { tell(p, bytes, bytes, {Kind::store}, CALLER); }              \
  void __tsan_unaligned_read##bytes(void* p) { tell(p, bytes, kWordBytes, {Kind::load}, CALLER); } \
  void __tsan_unaligned_write##bytes(void* p) {                                                    \
    tell(p, bytes, kWordBytes, {Kind::store}, CALLER);                                             \
  }                                                                                                \
  void __tsan_volatile_read##bytes(void* p) { tell(p, bytes, bytes, {Kind::load, true}, CALLER); } \
  void __tsan_volatile_write##bytes(void* p) {                                                     \
    tell(p, bytes, bytes, {Kind::store, true}, CALLER);                                            \
  }                                                                                                \
  void __tsan_unaligned_volatile_read##bytes(void* p) {                                            \
    tell(p, bytes, kWordBytes, {Kind::load, true}, CALLER);                                        \
  }                                                                                                \
  void __tsan_unaligned_volatile_write##bytes(void* p) {                                           \
    tell(p, bytes, kWordBytes, {Kind::store, true}, CALLER);                                       \
  }
HOSTCUDA_TRACED(1)
HOSTCUDA_TRACED(2)
HOSTCUDA_TRACED(4)
HOSTCUDA_TRACED(8)
HOSTCUDA_TRACED(16)
#undef HOSTCUDA_TRACED

// The C library is not instrumented: the linker puts these in place of what host code calls there
// (--wrap). In kernels a copy of a struct is told by itself.
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

}  // extern "C"
