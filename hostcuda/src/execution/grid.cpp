// Distributes a grid's blocks over operating-system threads.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execution/block.h"
#include "execution/gang.h"
#include "runtime/api.h"
#include "runtime/memory.h"
#include "runtime/symbol.h"
#include "support/config.h"
#include "support/module_code.h"
#include "support/progress.h"

namespace hostcuda {
namespace {

// Starting a team of operating-system threads takes microseconds, or milliseconds if the cores are
// busy. Grids that take less time than this constant run only on the calling thread.
constexpr double kTeamPaysFromSeconds = 100e-6;

// The error of the last grid that host code launched, because of its kernel's __launch_bounds__.
cudaError_t refused = cudaSuccess;

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
  // The launches by the blocks of the last unit.
  Children& children(const Launch& launch) {
    return has_gang(launch) ? gang_.children() : block_.children();
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
  bool has_cluster = false;       // the last kernel at this line had __cluster_dims__
};

// For each kernel's name and each line of a launch.
std::map<std::pair<const char*, int>, Experience>& experiences() {
  static auto* known = new std::map<std::pair<const char*, int>, Experience>;
  return *known;
}

Experience& experience_of(const Site& site) { return experiences()[{site.kernel, site.line}]; }

// Child grids of blocks on several operating-system threads use the experience too.
std::mutex& experience_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

[[maybe_unused]] const bool forgets_experiences =
    forgets_code_with([](const char* begin, const char* end) {
      const std::lock_guard lock(experience_mutex());
      experiences().erase(experiences().lower_bound({begin, INT_MIN}),
                          experiences().lower_bound({end, INT_MIN}));
    });

// The operating-system threads that may run a grid: all, or only the calling thread, if it is a
// member of a team that runs the parent grid. `worker` is the index of the calling thread's worker.
struct Crew {
  int worker = 0;
  bool has_team = true;
};

// Locks the experience if other members of a team may use it.
std::unique_lock<std::mutex> lock_experience(const Crew& crew) {
  return crew.has_team ? std::unique_lock<std::mutex>() : std::unique_lock(experience_mutex());
}

void run_family(Launch& launch, const Crew& crew);

void run_operations(std::vector<ChildOperation> operations, const Crew& crew) {
  for (ChildOperation& operation : operations) {
    if (!operation.launch)
      operation.work();
    else if (!context_is_broken())
      run_family(*operation.launch, crew);
  }
}

// Runs what the blocks of a unit, which has ended, have launched, and returns how long that took.
// An observer follows one grid at a time, so the children then begin only after the whole parent
// grid.
double run_children(const Launch& launch, std::uint64_t unit, Children& children,
                    const Crew& crew) {
  const auto start = Time::now();
  std::vector<ChildOperation> operations = in_order(children.take(), launch.number, unit);
  if (kernel_observer)
    launch.family->append_later(std::move(operations));
  else
    run_operations(std::move(operations), crew);
  return seconds_since(start);
}

// Runs a unit and its children, and returns how long the children took. Sets `wanted` if the unit
// was abandoned because the kernel's __cluster_dims__ differ from the launch's.
double run_unit(const Launch& launch, std::uint64_t unit, Worker& worker, const Crew& crew,
                std::optional<dim3>& wanted) {
  worker.run(launch, unit);
  if (const std::optional<dim3>& cluster = worker.wanted_cluster(launch)) {
#pragma omp critical(hostcuda_wanted_cluster)
    wanted = cluster;
    return 0;
  }
  Children& children = worker.children(launch);
  return children.empty() ? 0 : run_children(launch, unit, children, crew);
}

// Runs units, and returns the time that the team needed for them, without their children.
double run_units(const Launch& launch, const RunOrder& order, std::uint64_t first, int team,
                 const Crew& crew, std::optional<dim3>& wanted) {
  // `omp for` needs a signed counter. A grid with more blocks than this counter can count would
  // never end anyway.
  const auto begin = static_cast<long long>(first);
  const auto end = static_cast<long long>(order.count());
  const auto start = Time::now();
  double of_children = 0;
  const auto unit = [&](long long i) { return order[static_cast<std::uint64_t>(i)]; };
  if (team == 1) {
    Worker& mine = worker(crew.worker);
    for (long long i = begin; i < end && !has_ended_early(launch); ++i)
      of_children += run_unit(launch, unit(i), mine, crew, wanted);
    return seconds_since(start) - of_children;
  }
  for (int i = 0; i < team; ++i) worker(i);
  const long long chunk = std::max(1LL, (end - begin) / (8 * team));
#pragma omp parallel num_threads(team) reduction(+ : of_children)
  {
    const Crew alone{omp_get_thread_num(), false};
    Worker& mine = worker(alone.worker);
#pragma omp for schedule(dynamic, chunk)
    for (long long i = begin; i < end; ++i)
      if (!has_ended_early(launch)) of_children += run_unit(launch, unit(i), mine, alone, wanted);
  }
  return seconds_since(start) * team - of_children;
}

// Runs the blocks of a grid.
void run_blocks(Launch& launch, const Crew& crew) {
  // A member of a team must not replace what is known about the grid that the team runs.
  std::optional<WatchedGrid> watched;
  if (crew.has_team) watched.emplace(launch.site.kernel, launch.site.file, launch.site.line);
  auto lock = lock_experience(crew);
  Experience& experience = experience_of(launch.site);
  double cost = experience.seconds_per_thread;
  const bool may_have_cluster = experience.has_cluster;
  if (lock) lock.unlock();
  if (kernel_observer) kernel_observer->grid_begins(launch);
  // AddressSanitizer gives thread-local variables no redzones. In builds with AddressSanitizer,
  // shared variables are therefore plain statics, and only one block can run at a time. Moreover,
  // an observer follows one block at a time.
  const bool one_at_a_time = kAddressSanitizer || kernel_observer || !crew.has_team;
  const int available = one_at_a_time ? 1 : std::min(omp_get_max_threads(), kMaxTeam);

  const auto count_units = [&] { return launch.blocks() / blocks_together(launch); };
  RunOrder order(count_units(), launch.number);
  const auto tell_units = [&] {
    if (watched) watched->consists_of(order.count(), blocks_together(launch));
  };
  tell_units();
  const auto threads_per_unit = [&] {
    return static_cast<double>(launch.threads()) * static_cast<double>(blocks_together(launch));
  };
  // The cost of the last launch from the same line of the program decides whether a team of threads
  // is worthwhile. At the first launch, the time of one block decides.
  std::uint64_t first = 0;
  bool kernel_has_cluster = false;
  if (cost == 0 || may_have_cluster) {
    const auto start = Time::now();
    Worker& mine = worker(crew.worker);
    mine.run(launch, order[0]);
    if (const std::optional<dim3>& wanted = mine.wanted_cluster(launch)) {
      launch.cluster = *wanted;
      kernel_has_cluster = true;
      order = RunOrder(count_units(), launch.number);
      tell_units();
      mine.run(launch, order[0]);
    }
    cost = seconds_since(start) / threads_per_unit();
    first = 1;
    run_children(launch, order[0], mine.children(launch), crew);
  }
  const auto run_rest = [&]() -> std::optional<dim3> {
    std::optional<dim3> wanted;
    const std::uint64_t left = order.count() - first;
    if (left == 1) {
      // No team runs a single unit, and measuring the time would be a tenth of a short launch.
      if (!has_ended_early(launch))
        run_unit(launch, order[first], worker(crew.worker), crew, wanted);
    } else if (left > 1) {
      const double estimate = cost * threads_per_unit() * static_cast<double>(left);
      const bool worth_it = estimate > kTeamPaysFromSeconds;
      const int team =
          worth_it
              ? static_cast<int>(std::min<std::uint64_t>(static_cast<unsigned>(available), left))
              : 1;
      cost = run_units(launch, order, first, team, crew, wanted) /
             (static_cast<double>(left) * threads_per_unit());
    }
    return wanted;
  };
  // Another kernel, with __cluster_dims__, may be launched at a line that has launched a kernel
  // without: every block was abandoned at its first statement, so the grid can be restarted.
  if (const std::optional<dim3> wanted = run_rest()) {
    launch.cluster = *wanted;
    kernel_has_cluster = true;
    order = RunOrder(count_units(), launch.number);
    tell_units();
    run_rest();
  }
  const auto locked = lock_experience(crew);
  experience.seconds_per_thread = cost;
  experience.has_cluster = kernel_has_cluster;
}

// The launch fails although it may have returned already: a GPU knows the bounds earlier.
void fail_launch(const Launch& launch, unsigned allowed) {
  refused = fail(cudaErrorInvalidValue, std::to_string(launch.threads()) +
                                            " threads per block are more than " +
                                            std::to_string(allowed) + ", the limit that the " +
                                            "__launch_bounds__ of " + launch.site.kernel + " set");
}

// Runs a grid and its children.
void run_without_tail(Launch& launch, Family& family, const Crew& crew) {
  launch.family = &family;
  run_blocks(launch, crew);
  if (const unsigned allowed = family.refused_because()) fail_launch(launch, allowed);
  if (!family.is_empty()) run_operations(family.take_later(), crew);
}

// A grid of the tail stream may again have such launches, so there is a list and no recursion.
void run_tail(std::vector<ChildOperation> tail, const Crew& crew) {
  std::deque<ChildOperation> todo;
  const auto put_first = [&](std::vector<ChildOperation> operations) {
    todo.insert(todo.begin(), std::make_move_iterator(operations.begin()),
                std::make_move_iterator(operations.end()));
  };
  put_first(std::move(tail));
  while (!todo.empty()) {
    ChildOperation operation = std::move(todo.front());
    todo.pop_front();
    if (!operation.launch) {
      operation.work();
    } else if (!context_is_broken()) {
      Family family;
      run_without_tail(*operation.launch, family, crew);
      if (!family.is_empty()) put_first(family.take_tail());
    }
  }
}

// Runs a grid, its children, and then what its kernels have launched into the tail stream.
void run_family(Launch& launch, const Crew& crew) {
  Family family;
  run_without_tail(launch, family, crew);
  if (!family.is_empty()) run_tail(family.take_tail(), crew);
}

}  // namespace

bool has_ended_early(const Launch& launch) {
  return context_is_broken() || launch.family->refused_because();
}

cudaError_t run_grid(const Launch& requested) {
  refused = cudaSuccess;
  const DeviceMemoryAccess access(requested.device);
  bring_in_symbols(requested.device);
  Launch launch = requested;
  run_family(launch, {});
  return refused;
}

}  // namespace hostcuda
