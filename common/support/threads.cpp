#include "support/threads.h"

#include <future>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace nbody {

void require_threads(int count) {
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::vector<std::thread> threads;
  std::string problem;
  try {
    for (int k = 1; k < count; ++k) threads.emplace_back([ended] { ended.wait(); });
  } catch (const std::system_error& error) {
    problem = error.code().message();
  }
  end.set_value();
  for (std::thread& thread : threads) thread.join();
  if (!problem.empty()) {
    throw std::runtime_error("cannot start " + std::to_string(count) + " threads: " + problem +
                             "; reduce OMP_NUM_THREADS, or see the limits: ulimit -u and -v");
  }
}

}  // namespace nbody
