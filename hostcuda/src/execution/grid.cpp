// Distributes a grid's blocks over operating-system threads.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>

#include "execution/block.h"
#include "execution/gang.h"
#include "runtime/api.h"
#include "runtime/memory.h"
#include "runtime/symbol.h"
#include "support/config.h"
#include "support/progress.h"

namespace hostcuda {
namespace {

// Starting a team of operating-system threads takes microseconds, or milliseconds if the cores are
// busy. Grids that take less time than this constant run only on the calling thread.
constexpr double kTeamPaysFromSeconds = 100e-6;

// CUDA guarantees no order of blocks, just as it guarantees no order of threads.
class RunOrder {
 public:
  RunOrder(std::uint64_t count, std::uint64_t launch) : count_(count) {
    if (!shuffles(config().order) || count_ > kMaxShuffled) return;
    shuffled_.resize(count_);
    std::iota(shuffled_.begin(), shuffled_.end(), 0u);
    RandomNumbers(config().seed, launch, count_).shuffle(shuffled_);
  }
  std::uint64_t operator[](std::uint64_t i) const {
    if (!shuffled_.empty()) return shuffled_[i];
    return config().order == Order::forward ? i : count_ - 1 - i;
  }
  std::uint64_t count() const { return count_; }

 private:
  static constexpr std::uint64_t kMaxShuffled = 1 << 24;  // a larger grid runs in reverse order
  std::uint64_t count_;
  std::vector<std::uint32_t> shuffled_;
};

// Returns how many blocks run together because they may wait for each other: one block, the blocks
// of a cluster, or all blocks.
std::uint64_t blocks_together(const Launch& launch) {
  return launch.cooperative ? launch.blocks() : launch.cluster_size();
}

// A cooperative grid has a grid barrier, so it needs a gang even if it has only one block.
bool has_gang(const Launch& launch) { return launch.cooperative || launch.cluster_size() > 1; }

// Runs blocks on one operating-system thread, and keeps the fibers for the next grid.
class Worker {
 public:
  explicit Worker(volatile std::uint64_t& ended) : ended_(ended) {}
  // `unit` is the index of a block or a cluster. A cooperative grid is one unit.
  void run(const Launch& launch, std::uint64_t unit) {
    const std::uint64_t together = blocks_together(launch);
    if (!has_gang(launch)) {
      block_.run(launch, unit);
      ended_ = ended_ + 1;
      return;
    }
    const RunOrder order(together, launch.number);
    std::vector<std::uint64_t> blocks(together);
    for (std::uint64_t i = 0; i < together; ++i)
      blocks[i] = launch.cooperative
                      ? order[i]
                      : launch.block_of_cluster(unit, static_cast<unsigned>(order[i]));
    gang_.run(launch, blocks);
    ended_ = ended_ + 1;
  }
  const std::optional<dim3>& wanted_cluster(const Launch& launch) const {
    return has_gang(launch) ? gang_.wanted_cluster() : block_.wanted_cluster();
  }

 private:
  volatile std::uint64_t& ended_;
  BlockRunner block_;
  Gang gang_;
};

// `number` is the thread's index in the team. The workers are never destroyed.
Worker& worker(int number) {
  static auto* workers = new std::vector<std::unique_ptr<Worker>>(kMaxTeam);
  const auto i = static_cast<std::size_t>(number);
  auto& slot = (*workers)[i];
  if (!slot) slot = std::make_unique<Worker>(grid_progress.by_worker[i].ended);
  return *slot;
}

using Time = std::chrono::steady_clock;
double seconds_since(Time::time_point start) {
  return std::chrono::duration<double>(Time::now() - start).count();
}

// Facts learnt from the last launch of a kernel at one source line.
struct Experience {
  double seconds_per_thread = 0;  // 0 before the first launch
  dim3 cluster{1, 1, 1};          // the kernel's __cluster_dims__
};

Experience& experience_of(const Site& site) {
  static auto* known = new std::map<std::pair<const char*, int>, Experience>;
  return (*known)[{site.kernel, site.line}];
}

void run_units(const Launch& launch, const RunOrder& order, std::uint64_t first, int team) {
  // `omp for` needs a signed counter. A grid with more blocks than this counter can count would
  // never end anyway.
  const auto begin = static_cast<long long>(first);
  const auto end = static_cast<long long>(order.count());
  if (team == 1) {
    for (long long i = begin; i < end && !context_is_broken(); ++i)
      worker(0).run(launch, order[static_cast<std::uint64_t>(i)]);
    return;
  }
  for (int i = 0; i < team; ++i) worker(i);
  const long long chunk = std::max(1LL, (end - begin) / (8 * team));
#pragma omp parallel num_threads(team)
  {
    Worker& mine = worker(omp_get_thread_num());
#pragma omp for schedule(dynamic, chunk)
    for (long long i = begin; i < end; ++i)
      if (!context_is_broken()) mine.run(launch, order[static_cast<std::uint64_t>(i)]);
  }
}

}  // namespace

void run_grid(const Launch& requested) {
  const DeviceMemoryAccess access(requested.device);
  bring_in_symbols(requested.device);
  WatchedGrid watched(requested.site.kernel, requested.site.file, requested.site.line);
  Experience& experience = experience_of(requested.site);
  Launch launch = requested;
  if (launch.cluster_size() == 1) launch.cluster = experience.cluster;
  if (kernel_observer) kernel_observer->grid_begins(launch);
  // AddressSanitizer gives thread-local variables no redzones. In builds with AddressSanitizer,
  // shared variables are therefore plain statics, and only one block can run at a time. Moreover,
  // an observer follows one block at a time.
  const bool one_at_a_time = kAddressSanitizer || kernel_observer;
  const int available = one_at_a_time ? 1 : std::min(omp_get_max_threads(), kMaxTeam);

  const auto count_units = [&] { return launch.blocks() / blocks_together(launch); };
  RunOrder order(count_units(), launch.number);
  watched.consists_of(order.count(), blocks_together(launch));
  const auto threads_per_unit = [&] {
    return static_cast<double>(launch.threads()) * static_cast<double>(blocks_together(launch));
  };
  // The cost of the last launch from the same line of the program decides whether a team of threads
  // is worthwhile. At the first launch, the time of one block decides.
  double& cost = experience.seconds_per_thread;
  std::uint64_t first = 0;
  if (cost == 0) {
    const auto start = Time::now();
    worker(0).run(launch, order[0]);
    if (const std::optional<dim3>& wanted = worker(0).wanted_cluster(launch)) {
      launch.cluster = experience.cluster = *wanted;
      order = RunOrder(count_units(), launch.number);
      watched.consists_of(order.count(), blocks_together(launch));
      worker(0).run(launch, order[0]);
    }
    cost = seconds_since(start) / threads_per_unit();
    first = 1;
  }
  const std::uint64_t left = order.count() - first;
  if (left == 0) return;
  const double estimate = cost * threads_per_unit() * static_cast<double>(left);
  const bool worth_it = left > 1 && estimate > kTeamPaysFromSeconds;
  const int team =
      worth_it ? static_cast<int>(std::min<std::uint64_t>(static_cast<unsigned>(available), left))
               : 1;
  const auto start = Time::now();
  run_units(launch, order, first, team);
  cost = seconds_since(start) * team / (static_cast<double>(left) * threads_per_unit());
}

}  // namespace hostcuda
