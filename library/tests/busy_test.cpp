// Tests a call on a busy machine, where another process runs for milliseconds whenever the host
// yields. The host then must not wait for many yields before it asks the stream.
#include <chrono>
#include <cstdio>
#include <thread>

#include "nbody.hpp"

using Clock = std::chrono::steady_clock;

// Replaces the C library's function, which std::this_thread::yield() calls.
extern "C" int sched_yield() noexcept {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return 0;
}

int main() {
  const std::vector<double> x{0, 0, 0, 3, 0, 0}, m{1, 5};
  nbody::gravity::Options options;
  options.device = NBODY_CUDA;
  const auto begin = Clock::now();
  nbody::gravity::potential(nbody::gravity::Bodies<double>{x}, std::span<const double>(m), 4.0, {},
                            options);
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  std::printf("%.3f s\n", seconds.count());
  return seconds.count() < 1 ? 0 : 1;
}
