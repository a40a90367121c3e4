#include "support/fault.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace hostcuda {
namespace {

struct sigaction previous_action;
FaultText culprit_text;
std::array<FaultText, 4> cause_texts;

// Reads tables that another thread could be changing, which is a risk worth taking in a process
// that is about to die.
void explain(const char* address) {
  char culprit[256], cause[256], message[600];
  Fault fault{address, false};
  fault.in_kernel = culprit_text && culprit_text(fault, culprit, sizeof culprit);
  bool known = false;
  for (std::size_t i = 0; i < cause_texts.size() && cause_texts[i] && !known; ++i)
    known = cause_texts[i](fault, cause, sizeof cause);
  if (!known) return;
  const int length = std::snprintf(
      message, sizeof message, "\nhostcuda: ERROR: %s accesses %p: %s\n",
      fault.in_kernel ? culprit : "host code", static_cast<const void*>(address), cause);
  if (write(STDERR_FILENO, message, static_cast<std::size_t>(length)) < 0) _exit(1);
}

void on_fault(int signal, siginfo_t* information, void*) {
  explain(static_cast<const char*>(information->si_addr));
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

void name_fault_culprits_with(FaultText culprit) { culprit_text = culprit; }

void name_fault_causes_with(FaultText cause) {
  for (FaultText& slot : cause_texts) {
    if (slot == cause) return;
    if (!slot) {
      slot = cause;
      return;
    }
  }
}

}  // namespace hostcuda
