#include "threads.h"

#include <omp.h>
#include <pthread.h>

namespace nbody::library {
namespace {
bool is_forked = false;  // only the child's handler writes this, while the child has one thread

void watch_forks() {
  static const int watched = pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
  static_cast<void>(watched);
}
}  // namespace

Threads::Threads(int most) : before_(omp_get_max_threads()) {
  watch_forks();
  if (is_forked) most = 1;
  if (most > 0) omp_set_num_threads(most);
}

Threads::~Threads() { omp_set_num_threads(before_); }

}  // namespace nbody::library
