// Fibers: the stacks on which emulated threads wait at barriers.
#ifndef HOSTCUDA_SRC_FIBER_H
#define HOSTCUDA_SRC_FIBER_H

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define HOSTCUDA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOSTCUDA_ASAN 1
#endif
#endif

#ifdef HOSTCUDA_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace hostcuda {

#ifdef HOSTCUDA_ASAN
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif

namespace context = boost::context::detail;

// A suspended flow of control. The operating-system thread's own stack is a Fiber too, with no
// stack of ours.
//
// fcontext and not the public boost::context::fiber: the public type hands over ownership at each
// switch, which fits a scheduler that every fiber returns to. Here a waiting thread switches
// straight to the next one; that is one switch per barrier and thread instead of two.
struct Fiber {
  context::fcontext_t suspended = nullptr;
  const void* stack_low = nullptr;
  std::size_t stack_size = 0;
  void* fake_stack = nullptr;  // AddressSanitizer's, while suspended
};

// A fiber with its own stack and an inaccessible page below it: an overflow is a fault, not a
// silent overwrite of the neighbouring stack. Fibers live until the process ends.
Fiber* create_fiber();

// Makes the fiber begin at entry when it is next switched to. Whatever it did before is gone.
void restart_fiber(Fiber& fiber, void (*entry)(context::transfer_t));

// Size of the inaccessible area below each stack.
std::size_t guard_size();

// First thing that runs after a switch, on the new stack.
inline void arrive(Fiber& self, context::transfer_t transfer) {
  auto* previous = static_cast<Fiber*>(transfer.data);
  previous->suspended = transfer.fctx;
#ifdef HOSTCUDA_ASAN
  __sanitizer_finish_switch_fiber(self.fake_stack, &previous->stack_low, &previous->stack_size);
#else
  (void)self;
#endif
}

enum class Leave { to_return, for_good };

inline void switch_fiber(Fiber& from, Fiber& to, [[maybe_unused]] Leave leave = Leave::to_return) {
#ifdef HOSTCUDA_ASAN
  // No place to save the fake stack tells AddressSanitizer to free it.
  __sanitizer_start_switch_fiber(leave == Leave::for_good ? nullptr : &from.fake_stack,
                                 to.stack_low, to.stack_size);
#endif
  arrive(from, context::jump_fcontext(to.suspended, &from));
}

}  // namespace hostcuda

#endif
