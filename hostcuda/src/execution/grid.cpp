#include "execution/grid.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "execution/block.h"
#include "execution/kernel_observer.h"
#include "runtime/api.h"
#include "runtime/memory.h"
#include "runtime/symbol.h"
#include "support/config.h"

namespace hostcuda {
namespace {

// Each emulated thread that waits needs two memory mappings (stack and guard), and Linux allows a
// process 65530: that is 31 blocks of 1024 threads.
constexpr int kMaxTeam = 16;

// A team of operating-system threads costs microseconds to start, and milliseconds where cores are
// scarce. Shorter grids than this run on the calling thread alone.
constexpr double kTeamPaysFromSeconds = 100e-6;

// Runners keep their fibers for the next grid. Indexed by the number in the team; never destroyed.
BlockRunner& runner(int number) {
  static auto* runners = new std::vector<std::unique_ptr<BlockRunner>>(kMaxTeam);
  auto& slot = (*runners)[static_cast<std::size_t>(number)];
  if (!slot) slot = std::make_unique<BlockRunner>();
  return *slot;
}

// The order of blocks is no more promised than that of threads.
class BlockOrder {
 public:
  explicit BlockOrder(const Launch& launch) : blocks_(launch.blocks()) {
    if (config().order != Order::random || blocks_ > kMaxShuffled) return;
    shuffled_.resize(blocks_);
    for (std::uint64_t i = 0; i < blocks_; ++i) shuffled_[i] = static_cast<std::uint32_t>(i);
    RandomNumbers(config().seed, launch.number, blocks_).shuffle(shuffled_);
  }
  std::uint64_t operator[](std::uint64_t i) const {
    if (!shuffled_.empty()) return shuffled_[i];
    return config().order == Order::forward ? i : blocks_ - 1 - i;
  }

 private:
  static constexpr std::uint64_t kMaxShuffled = 1 << 24;  // a larger grid runs backwards
  std::uint64_t blocks_;
  std::vector<std::uint32_t> shuffled_;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// How long a thread of this kernel took when it was last launched from this place in the source. 0
// the first time.
double& seconds_per_thread(const Site& site) {
  static auto* known = new std::map<std::pair<const char*, int>, double>;
  return (*known)[{site.kernel, site.line}];
}

void run_blocks(const Launch& launch, const BlockOrder& order, std::uint64_t first, int team) {
  // `omp for` wants a signed counter; a grid that overflows it would not end anyway.
  const auto begin = static_cast<long long>(first);
  const auto end = static_cast<long long>(launch.blocks());
  if (team == 1) {
    for (long long i = begin; i < end && !context_is_broken(); ++i)
      runner(0).run(launch, order[static_cast<std::uint64_t>(i)]);
    return;
  }
  for (int i = 0; i < team; ++i) runner(i);
  const long long chunk = std::max(1LL, (end - begin) / (8 * team));
#pragma omp parallel num_threads(team)
  {
    BlockRunner& mine = runner(omp_get_thread_num());
#pragma omp for schedule(dynamic, chunk)
    for (long long i = begin; i < end; ++i)
      if (!context_is_broken()) mine.run(launch, order[static_cast<std::uint64_t>(i)]);
  }
}

}  // namespace

void run_grid(const Launch& launch) {
  const DeviceMemoryAccess access(launch.device);
  bring_in_symbols(launch.device);
  const BlockOrder order(launch);
  if (kernel_observer) kernel_observer->grid_begins(launch);
  // Shared variables are plain statics under AddressSanitizer (it gives thread-local ones no
  // redzones), so one block runs at a time; an observer sees one block at a time too.
  const bool one_at_a_time = kAddressSanitizer || kernel_observer;
  const int available = one_at_a_time ? 1 : std::min(omp_get_max_threads(), kMaxTeam);

  // Worth a team? The last launch from this line tells; the first one runs a block to find out.
  double& cost = seconds_per_thread(launch.site);
  const auto estimate = [&](std::uint64_t blocks) {
    return cost * launch.threads() * static_cast<double>(blocks);
  };
  std::uint64_t first = 0;
  if (cost == 0) {
    const Stopwatch stopwatch;
    runner(0).run(launch, order[0]);
    cost = stopwatch.seconds() / launch.threads();
    first = 1;
  }
  const std::uint64_t left = launch.blocks() - first;
  if (left == 0) return;
  const bool worth_it = left > 1 && estimate(left) > kTeamPaysFromSeconds;
  const int team =
      worth_it ? static_cast<int>(std::min<std::uint64_t>(static_cast<unsigned>(available), left))
               : 1;
  const Stopwatch stopwatch;
  run_blocks(launch, order, first, team);
  cost = stopwatch.seconds() * team / (static_cast<double>(left) * launch.threads());
}

}  // namespace hostcuda
