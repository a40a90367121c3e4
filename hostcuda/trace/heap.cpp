// Traced object files call these functions instead of malloc, new etc., because the launcher has
// renamed the calls. For host code, each of these functions calls the original function. (_Znwm is
// the mangled name of operator new.)
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "checks/host_blocks.h"
#include "execution/block.h"
#include "launch/kernel_heap.h"
#include "launch/printing.h"
#include "tracer.h"

using hostcuda::trace::Kind;
using hostcuda::trace::kMaxAccess;
using hostcuda::trace::tracer;

namespace {

bool in_traced_kernel() { return tracer && hostcuda::running_block; }

template <class Function>
void* allocate(std::size_t size, const void* caller, const Function& of_host) {
  void* pointer = nullptr;
  if (in_traced_kernel() && tracer->allocate(size, caller, pointer)) return pointer;
  pointer = of_host();
  if (tracer && !hostcuda::running_block && pointer && size)
    hostcuda::trace::host_blocks().allocated(pointer, size);
  return pointer;
}

template <class Function>
void release(void* pointer, const void* caller, const Function& of_host) {
  if (pointer && tracer && tracer->release(pointer, caller)) return;
  if (pointer && tracer) hostcuda::trace::host_blocks().released(pointer);
  of_host();
}

// Returns the largest number of bytes that can be copied at once: a power of two that divides both
// addresses and the size.
unsigned piece_of(const void* to, const void* from, std::size_t size) {
  const auto all = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) |
                   size | kMaxAccess;
  return static_cast<unsigned>(all & (~all + 1));
}

}  // namespace

void hostcuda::trace::observe_kernel_heap() {
  hostcuda::kernel_heap.allocate = [](std::size_t size, const void* caller) {
    void* pointer = nullptr;
    return tracer->allocate(size, caller, pointer, true) ? pointer : std::malloc(size);
  };
  hostcuda::kernel_heap.release = [](void* pointer, const void* caller) {
    ::release(pointer, caller, [&] { std::free(pointer); });
  };
  hostcuda::kernel_heap.refuse = [](void* pointer, const void* caller) {
    if (!tracer->release(pointer, caller)) hostcuda::report_free_of_others(caller);
  };
}

#define CALLER __builtin_return_address(0)

extern "C" {
#define NEW(name, function)                                        \
  void* hostcuda_##name(std::size_t size) {                        \
    return allocate(size, CALLER, [&] { return function(size); }); \
  }
NEW(malloc, std::malloc)
NEW(_Znwm, ::operator new)
NEW(_Znam, ::operator new[])
#define DELETE(name, function)                            \
  void hostcuda_##name(void* pointer) {                   \
    release(pointer, CALLER, [&] { function(pointer); }); \
  }
DELETE(free, std::free)
DELETE(_ZdlPv, ::operator delete)
DELETE(_ZdlPvm, ::operator delete)
DELETE(_ZdaPv, ::operator delete[])
DELETE(_ZdaPvm, ::operator delete[])

// The linker replaces these functions in all object files, because a traced object file may
// allocate a block that another object file frees.
#define FREED(name)                                               \
  void __real_##name(void* pointer);                              \
  void __wrap_##name(void* pointer) {                             \
    if (tracer) hostcuda::trace::host_blocks().released(pointer); \
    __real_##name(pointer);                                       \
  }
#define FREED_WITH_SIZE(name)                                     \
  void __real_##name(void* pointer, std::size_t size);            \
  void __wrap_##name(void* pointer, std::size_t size) {           \
    if (tracer) hostcuda::trace::host_blocks().released(pointer); \
    __real_##name(pointer, size);                                 \
  }
FREED(free)
FREED(_ZdlPv)
FREED(_ZdaPv)
FREED_WITH_SIZE(_ZdlPvm)
FREED_WITH_SIZE(_ZdaPvm)
void* __real_realloc(void* pointer, std::size_t size);
void* __wrap_realloc(void* pointer, std::size_t size) {
  if (tracer) hostcuda::trace::host_blocks().released(pointer);
  return __real_realloc(pointer, size);
}

// Output that a kernel prints counts as a result of the program.
int hostcuda_printf(const char* format, ...) {
  if (in_traced_kernel()) tracer->host().has_other_results();
  va_list arguments;
  va_start(arguments, format);
  const int result = hostcuda::print(format, arguments);
  va_end(arguments);
  return result;
}
int hostcuda_puts(const char* text) {
  if (in_traced_kernel()) tracer->host().has_other_results();
  return std::puts(text);
}
int hostcuda_putchar(int character) {
  if (in_traced_kernel()) tracer->host().has_other_results();
  return std::putchar(character);
}

// Reports copies that the program makes by calling memcpy or memmove (traced_copies.h). Copies that
// the compiler inserts are reported elsewhere.
void* __real_memmove(void* to, const void* from, std::size_t size);
void* hostcuda_memcpy(void* to, const void* from, std::size_t size) {
  if (tracer && size) {
    const auto bytes = static_cast<unsigned>(size);
    const unsigned piece = piece_of(to, from, size);
    tracer->access(from, bytes, piece, {Kind::load}, CALLER);
    tracer->access(to, bytes, piece, {Kind::store}, CALLER);
  }
  return __real_memmove(to, from, size);
}
void* hostcuda_memset(void* to, int value, std::size_t size) {
  if (tracer && size)
    tracer->access(to, static_cast<unsigned>(size), piece_of(to, nullptr, size), {Kind::store},
                   CALLER);
  return std::memset(to, value, size);
}
}
