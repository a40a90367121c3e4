// Tells ThreadSanitizer about the synchronisation inside libgomp, which it cannot see. Without this
// file it would report a race for all data that a team of threads shares. The preset cpu-tsan links
// this file before libgomp. One address stands for all forks, one for all joins, and so on.
// Unrelated teams therefore count as ordered, which can hide a race but cannot cause a false
// report.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

namespace {

char fork, join, barrier, atomic;

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct Region {
  void (*body)(void*);
  void* data;
};

void run_region(void* argument) {
  __tsan_acquire(&fork);
  const auto* region = static_cast<const Region*>(argument);
  region->body(region->data);
  __tsan_release(&join);
}

void pass_barrier(void (*wait)()) {
  __tsan_release(&barrier);
  wait();
  __tsan_acquire(&barrier);
}

}  // namespace

extern "C" {

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  static auto* const really =
      real<void(void (*)(void*), void*, unsigned, unsigned)>("GOMP_parallel");
  Region region{body, data};
  __tsan_release(&fork);
  really(run_region, &region, threads, flags);
  __tsan_acquire(&join);
}

void GOMP_barrier() {
  static auto* const really = real<void()>("GOMP_barrier");
  pass_barrier(really);
}

void GOMP_loop_end() {  // unlike GOMP_loop_end_nowait, it contains a barrier
  static auto* const really = real<void()>("GOMP_loop_end");
  pass_barrier(really);
}

void GOMP_atomic_start() {
  static auto* const really = real<void()>("GOMP_atomic_start");
  really();
  __tsan_acquire(&atomic);
}

void GOMP_atomic_end() {
  static auto* const really = real<void()>("GOMP_atomic_end");
  __tsan_release(&atomic);
  really();
}

}  // extern "C"
