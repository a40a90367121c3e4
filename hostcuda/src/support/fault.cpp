#include "support/fault.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "records/finding.h"
#include "support/hint.h"
#include "support/source_line.h"

namespace hostcuda {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE};
std::array<struct sigaction, kSignals.size()> previous_actions;
// These pointers are atomic, because one thread sets them while other threads run.
std::atomic<FaultText> culprit_text;
std::array<std::atomic<FaultText>, 4> cause_texts;
void (*death_function)();

bool is_general_protection(const siginfo_t& information) {
#ifdef SI_KERNEL
  return information.si_code == SI_KERNEL;
#else
  return false;
#endif
}

// Reads tables that another thread may be changing. The process is about to die, so the risk is
// acceptable.
void name_cause(const Fault& fault, const siginfo_t& information, char* text, std::size_t size) {
  constexpr std::size_t kNullPage = 4096;
  if (information.si_signo == SIGFPE) {
    std::snprintf(text, size, "divides an integer by zero (a GPU would give a meaningless number)");
    return;
  }
  if (is_general_protection(information)) {
    std::snprintf(text, size,
                  "accesses a vector (float4, double2, ...) that is not aligned to its size, or an "
                  "address that cannot exist");
    return;
  }
  char known[256];
  const char* what = reinterpret_cast<std::size_t>(fault.address) < kNullPage
                         ? "a null pointer, perhaps from an allocation that failed"
                         : "not memory of this program";
  for (const auto& cause : cause_texts)
    if (const FaultText name = cause; name && name(fault, known, sizeof known)) {
      what = known;
      break;
    }
  std::snprintf(text, size, "accesses %p: %s", static_cast<const void*>(fault.address), what);
}

void explain(const siginfo_t& information, const void* context) {
  char culprit[512], cause[512], place[512], message[2048];
  Fault fault{static_cast<const char*>(information.si_addr), false};
  const FaultText name_of = culprit_text;
  fault.in_kernel = name_of && name_of(fault, culprit, sizeof culprit);
  name_cause(fault, information, cause, sizeof cause);
  const bool has_line = source_line(interrupted_code(context), place, sizeof place);
  const int length = std::snprintf(message, sizeof message, "\nhostcuda: ERROR: %s %s%s%s\n",
                                   fault.in_kernel ? culprit : "host code", cause,
                                   has_line ? "\n  at " : "", has_line ? place : "");
  flush_output();
  if (write(STDERR_FILENO, message, static_cast<std::size_t>(length)) < 0) _exit(1);
  hint_at_fault();
  keep_for_death("fault", cause, has_line ? place : "");
}

void on_fault(int, siginfo_t* information, void* context) {
  // When this function returns, the faulting instruction runs again, and the previous action (the
  // default, or AddressSanitizer's) handles the fault. Therefore a core dump or gdb shows that
  // instruction.
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &previous_actions[i], nullptr);
  explain(*information, context);
}

void install_handler() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    sigaction(kSignals[i], &action, &previous_actions[i]);
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
  static constexpr std::size_t kSize = 256 << 10;
  void* memory_ = nullptr;
};

}  // namespace

const void* interrupted_code([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  const auto* registers = &static_cast<const ucontext_t*>(context)->uc_mcontext;
  return reinterpret_cast<const void*>(registers->gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return nullptr;
#endif
}

void prepare_thread_for_faults() {
  [[maybe_unused]] static const bool installed = (install_handler(), true);
  [[maybe_unused]] static thread_local SignalStack stack;
}

void name_fault_culprits_with(FaultText culprit) { culprit_text = culprit; }

void name_culprit(char* text, std::size_t size) {
  const Fault none{};
  const FaultText culprit = culprit_text;
  if (!culprit || !culprit(none, text, size)) std::snprintf(text, size, "host code");
}

void flush_output() {
  if (ftrylockfile(stdout) != 0) return;
  std::fflush(stdout);
  funlockfile(stdout);
}

void call_before_death(void (*function)()) { death_function = function; }

void keep_for_death(const char* kind, const char* what, const char* place) {
  if (!death_function) return;
  alarm(kSecondsToDie);
  Finding finding(kind, what);
  finding.place = place;
  fill_in_culprit(finding);
  keep(std::move(finding));
  before_death();
}

void before_death() {
  if (!death_function) return;
  alarm(kSecondsToDie);
  std::exchange(death_function, nullptr)();
}

void name_fault_causes_with(FaultText cause) {
  for (std::atomic<FaultText>& slot : cause_texts) {
    FaultText known = nullptr;
    if (slot.compare_exchange_strong(known, cause) || known == cause) return;
  }
}

}  // namespace hostcuda
