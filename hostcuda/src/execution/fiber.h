// Fibers give emulated threads their own stacks, on which they wait at barriers.
#ifndef HOSTCUDA_SRC_EXECUTION_FIBER_H
#define HOSTCUDA_SRC_EXECUTION_FIBER_H

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#include "support/sanitizer.h"

#ifdef HOSTCUDA_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace hostcuda {

namespace context = boost::context::detail;

// A suspended flow of control. The operating-system thread's own stack is also a Fiber.
//
// This code uses fcontext instead of the public boost::context::fiber, because that class transfers
// ownership at each switch, which suits a scheduler to which every fiber returns. Here a waiting
// thread switches directly to the next one, so a barrier costs one switch per thread, not two.
struct Fiber {
  context::fcontext_t suspended = nullptr;
  const void* stack_low = nullptr;
  std::size_t stack_size = 0;
  void* fake_stack = nullptr;  // AddressSanitizer's stack while the fiber is suspended
};

// Creates a fiber with its own stack and an inaccessible page below it, so that an overflow causes
// a fault instead of overwriting the neighbouring stack. Another inaccessible page lies above the
// stack, so an access just past the end of a variable never reaches another stack. Fibers are never
// destroyed.
Fiber* create_fiber();

// Discards the fiber's state. At the next switch to this fiber, it begins with `entry`.
void restart_fiber(Fiber& fiber, void (*entry)(context::transfer_t));

// True if the address is in the stack of any fiber.
bool is_in_fiber(const void* address);

// Size of the inaccessible areas below and above each stack.
std::size_t guard_size();

// Must be the first call on the new stack after a switch.
inline void arrive(Fiber& self, context::transfer_t transfer) {
  auto* previous = static_cast<Fiber*>(transfer.data);
  previous->suspended = transfer.fctx;
#ifdef HOSTCUDA_ASAN
  __sanitizer_finish_switch_fiber(self.fake_stack, &previous->stack_low, &previous->stack_size);
#else
  (void)self;
#endif
}

// Calls boost::context::detail::jump_fcontext so that the processor can predict later returns.
//
// jump_fcontext ends with a jump instead of a return. After an ordinary call, the processor's stack
// of return addresses would therefore have one entry too many, and the mispredicted next return
// would cost a third of a barrier's time. This function pushes the return address without a call
// instruction, which keeps the processor's stack of return addresses balanced. It gets
// jump_fcontext's address from the compiler, because Boost 1.90 and later mangle the name.
inline context::transfer_t jump(context::fcontext_t to, void* data) {
#if defined(__x86_64__) && !defined(__CET__)
  context::transfer_t result;
  // The compiler may use the first 128 bytes below the stack pointer (the red zone). jump_fcontext
  // preserves rbp, rbx and r12 to r15; all other registers are declared as clobbered.
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\t"
      "lea 1f(%%rip), %%rax\n\t"
      "push %%rax\n\t"
      "jmp *%[function]\n"
      "1:\n\t"
      "lea 128(%%rsp), %%rsp"
      : "=&a"(result.fctx), "=&d"(result.data), "+D"(to), "+S"(data)
      : [function] "r"(&context::jump_fcontext)
      : "rcx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
        "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#ifdef __AVX512F__
        ,
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
        "k7"
#endif
  );
  return result;
#else
  return context::jump_fcontext(to, data);
#endif
}

// Removes AddressSanitizer's guards around the variables of functions that never returned.
inline void forget_frames([[maybe_unused]] const Fiber& fiber) {
#ifdef HOSTCUDA_ASAN
  __asan_unpoison_memory_region(fiber.stack_low, fiber.stack_size);
#endif
}

enum class Leave { to_return, for_good };

inline void switch_fiber(Fiber& from, Fiber& to, [[maybe_unused]] Leave leave = Leave::to_return) {
#ifdef HOSTCUDA_ASAN
  // A null pointer instead of the fake stack's address tells AddressSanitizer to free the fake
  // stack.
  __sanitizer_start_switch_fiber(leave == Leave::for_good ? nullptr : &from.fake_stack,
                                 to.stack_low, to.stack_size);
#endif
  arrive(from, jump(to.suspended, &from));
}

}  // namespace hostcuda

#endif
