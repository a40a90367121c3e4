#include "execution/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <set>

namespace hostcuda {
namespace {

// The address space of a stack; only touched pages use memory. The size is generous, because
// unoptimised and sanitized kernels have large frames.
constexpr std::size_t kStackSize = 256 << 10;

constinit std::mutex stacks_mutex;
std::set<const char*>& stacks() {
  static auto* set = new std::set<const char*>;
  return *set;
}

}  // namespace

std::size_t guard_size() {
  static const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

bool is_in_fiber(const void* address) {
  const std::lock_guard lock(stacks_mutex);
  const auto* byte = static_cast<const char*>(address);
  const auto next = stacks().upper_bound(byte);
  return next != stacks().begin() && byte < *std::prev(next) + kStackSize;
}

Fiber* create_fiber() {
  void* mapping = mmap(nullptr, kStackSize + 2 * guard_size(), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char* low = static_cast<char*>(mapping) + guard_size();
  if (mapping == MAP_FAILED || mprotect(low, kStackSize, PROT_READ | PROT_WRITE) != 0) {
    std::perror("hostcuda: no memory for a thread's stack");
    std::abort();
  }
  // All stacks start at the same offset in a page. If the tops of the stacks also had the same
  // offset, the frames of hundreds of waiting threads would compete for a few cache sets, and a
  // barrier would take several times as long. The top of each stack is therefore one cache line
  // lower than the previous stack's.
  static std::atomic<unsigned> created = 0;
  constexpr std::size_t kCacheLine = 64;
  const std::size_t stagger = (created.fetch_add(1, std::memory_order_relaxed) % 61) * kCacheLine;

  auto* fiber = new Fiber;
  fiber->stack_low = low;
  fiber->stack_size = kStackSize - stagger;
  const std::lock_guard lock(stacks_mutex);
  stacks().insert(static_cast<const char*>(fiber->stack_low));
  return fiber;
}

void restart_fiber(Fiber& fiber, void (*entry)(context::transfer_t)) {
  char* top = static_cast<char*>(const_cast<void*>(fiber.stack_low)) + fiber.stack_size;
  fiber.suspended = context::make_fcontext(top, fiber.stack_size, entry);
  fiber.fake_stack = nullptr;
}

}  // namespace hostcuda
