#include "fault.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "block.h"
#include "memory.h"

namespace hostcuda {
namespace {

struct sigaction previous_action;

// The handler only formats and writes; it reads tables that another thread could be changing, which
// is a risk worth taking in a process that is about to die.
void write_message(const char* format, auto... values) {
  char message[512];
  const int length = std::snprintf(message, sizeof message, format, values...);
  if (length > 0 && write(STDERR_FILENO, message, static_cast<std::size_t>(length)) < 0) _exit(1);
}

void explain_stack_overflow(const char* address) {
  const char* stack = static_cast<const char*>(running_block->current().fiber->stack_low);
  if (address >= stack || address < stack - guard_size()) return;
  write_message(
      "\nhostcuda: ERROR: kernel %s overflows the stack of thread (%u,%u,%u) of block "
      "(%u,%u,%u)\n",
      running_block->launch().site.kernel, threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x,
      blockIdx.y, blockIdx.z);
}

void explain_device_memory(const char* address) {
  const int owner = device_of_arena_address(address);
  if (owner < 0) return;
  if (running_block) {
    const Launch& launch = running_block->launch();
    write_message(
        "\nhostcuda: ERROR: kernel %s (launched at %s:%d) on device %d accesses %p, which it may "
        "not: memory of device %d that is freed, out of bounds or of another device without peer "
        "access\n",
        launch.site.kernel, launch.site.file, launch.site.line, launch.device,
        static_cast<const void*>(address), owner);
  } else {
    write_message("\nhostcuda: ERROR: host code accesses %p, memory of device %d\n",
                  static_cast<const void*>(address), owner);
  }
}

void on_fault(int signal, siginfo_t* information, void*) {
  const char* address = static_cast<const char*>(information->si_addr);
  if (running_block) explain_stack_overflow(address);
  explain_device_memory(address);
  // The instruction runs again when this returns, and the previous action (the default, or
  // AddressSanitizer's) sees the same fault: a core dump or gdb stands at the culprit.
  sigaction(signal, &previous_action, nullptr);
}

void install_handler() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_action);
}

class SignalStack {
 public:
  SignalStack() {
    stack_t existing = {};
    if (sigaltstack(nullptr, &existing) == 0 && !(existing.ss_flags & SS_DISABLE)) return;
    memory_ = std::malloc(kSize);
    stack_t stack = {};
    stack.ss_sp = memory_;
    stack.ss_size = kSize;
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t disabled = {};
    disabled.ss_flags = SS_DISABLE;
    sigaltstack(&disabled, nullptr);
    std::free(memory_);
  }

 private:
  static constexpr std::size_t kSize = 64 << 10;
  void* memory_ = nullptr;
};

}  // namespace

void prepare_thread_for_faults() {
  static const bool installed = (install_handler(), true);
  static thread_local SignalStack stack;
  (void)installed;
  (void)stack;
}

}  // namespace hostcuda
