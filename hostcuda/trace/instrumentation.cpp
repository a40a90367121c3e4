// hostcuda's definitions of what g++ -fsanitize=thread calls. A traced program is compiled with
// that flag and linked without it, against this file instead of ThreadSanitizer's library.
#include <cstddef>

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

// Whether it is a local variable of the function that runs, or of one that called it, and no
// memory of a GPU's. Those that are further away are told from others later.
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
// Likewise, a load of so many bytes at once.
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
}  // namespace

#define CALLER __builtin_return_address(0)

// See hostcuda/traced_vectors.h.
namespace hostcuda {
void vector_copied(const void* from, const void* to, std::size_t size, const void* caller) {
  if (size == kMaxAccess)
    tell_load<kMaxAccess>(from, caller);
  else
    tell(from, static_cast<unsigned>(size), kMaxAccess, {Kind::load}, caller);
  tell_store(to, static_cast<unsigned>(size), kMaxAccess, caller);
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
  void __tsan_read##bytes(void* p) { tell_load<bytes>(p, CALLER); }                                \
  void __tsan_write##bytes(void* p) { tell_store(p, bytes, bytes, CALLER); }                       \
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
