#include "execution/gang.h"

#include <algorithm>

#include "execution/report.h"
#include "runtime/api.h"
#include "support/config.h"

namespace hostcuda {

void Gang::run(const Launch& launch, const std::vector<std::uint64_t>& blocks) {
  by_number_.clear();
  clusters_.clear();
  grid_ = {};
  wanted_cluster_.reset();
  while (runners_.size() < blocks.size()) runners_.push_back(std::make_unique<BlockRunner>());
  std::vector<BlockRunner*> unfinished;
  for (const std::uint64_t number : blocks) {
    BlockRunner& block = *runners_[unfinished.size()];
    block.begin(launch, number, this);
    by_number_[number] = &block;
    for (Barrier* barrier : {&clusters_[launch.cluster_of(number)], &grid_}) {
      barrier->blocks.push_back(&block);
      barrier->expected += block.count();
    }
    unfinished.push_back(&block);
  }
  RandomNumbers random(config().seed, launch.number, blocks.front());
  while (!unfinished.empty()) {
    if (shuffles(config().order)) random.shuffle(unfinished);
    bool any = false;
    for (BlockRunner* block : unfinished) {
      if (!block->can_run()) continue;
      any = true;
      block->resume();
      wanted_cluster_ = block->wanted_cluster();
      if (wanted_cluster_ || has_ended_early(launch)) return;
    }
    std::erase_if(unfinished, [](const BlockRunner* block) { return block->is_done(); });
    if (!any) report_deadlock(*unfinished.front(), blocks.size() - unfinished.size());
  }
}

Gang::Barrier& Gang::barrier_of(const BlockRunner& block, Scope scope) {
  return scope == Scope::grid ? grid_ : clusters_[block.launch().cluster_of(block.number())];
}

void Gang::arrive(const BlockRunner& block, Thread& thread, Scope scope) {
  Barrier& barrier = barrier_of(block, scope);
  if (thread.arrival(scope) == barrier.completed + 1) report_second_arrival(block, scope);
  thread.arrival(scope) = barrier.completed + 1;
  ++barrier.arrived;
  complete_if_all_arrived(barrier, scope);
}

bool Gang::has_passed(const BlockRunner& block, Thread& thread, Scope scope) {
  return barrier_of(block, scope).completed >= thread.arrival(scope);
}

// A barrier no longer waits for a thread that has returned.
void Gang::thread_ended(const BlockRunner& block, Thread& thread) {
  for (const Scope scope : {Scope::cluster, Scope::grid}) {
    Barrier& barrier = barrier_of(block, scope);
    --barrier.expected;
    if (thread.arrival(scope) == barrier.completed + 1) --barrier.arrived;
    complete_if_all_arrived(barrier, scope);
  }
}

// On a GPU, one thread per block arrives at the grid's barrier, so grid.sync() waits forever if a
// whole block has returned. The emulator then does not complete the barrier either. If only some
// threads of a block have returned, the emulator prints a warning, as at __syncthreads().
void Gang::complete_if_all_arrived(Barrier& barrier, Scope scope) {
  if (barrier.arrived == 0 || barrier.arrived != barrier.expected) return;
  if (scope == Scope::grid && std::ranges::any_of(barrier.blocks, &BlockRunner::is_done)) return;
  barrier.arrived = 0;
  ++barrier.completed;
  for (BlockRunner* block : barrier.blocks)
    if (!block->is_done()) block->release(scope);
}

BlockRunner& Gang::block_of_cluster(const BlockRunner& block, unsigned rank) {
  const Launch& launch = block.launch();
  return *by_number_.at(launch.block_of_cluster(launch.cluster_of(block.number()), rank));
}

// ---- the members of BlockRunner that concern other blocks --------------------------------------

Gang& BlockRunner::gang_for(Scope scope, const char* file, int line) {
  set_place(file, line);
  if (!gang_ || (scope == Scope::grid && !launch_->cooperative)) report_no_gang(*this, scope);
  return *gang_;
}

void BlockRunner::sync(Scope scope, const char* file, int line) {
  if (scope == Scope::cluster && launch_->cluster_size() == 1) return barrier(file, line);
  Gang& gang = gang_for(scope, file, line);
  Thread& thread = threads_[current_];
  thread.status = Status::at_barrier;
  thread.scope = scope;
  gang.arrive(*this, thread, scope);
  wait(thread);
}

void BlockRunner::arrive(Scope scope, const char* file, int line) {
  gang_for(scope, file, line).arrive(*this, threads_[current_], scope);
}

void BlockRunner::wait_for(Scope scope, const char* file, int line) {
  Thread& thread = threads_[current_];
  if (gang_for(scope, file, line).has_passed(*this, thread, scope)) return;
  thread.status = Status::at_barrier;
  thread.scope = scope;
  wait(thread);
}

void BlockRunner::release(Scope scope) {
  check_barrier(scope);
  if (kernel_observer) kernel_observer->barrier_passed(*this, scope);
  shuffle_order();
  for (const unsigned i : order_) {
    if (!waits_at(threads_[i], scope)) continue;
    ready_.add(i);
    threads_[i].status = Status::running;
  }
}

void BlockRunner::require_cluster(const dim3& cluster) {
  const dim3& actual = launch_->cluster;
  if (actual.x == cluster.x && actual.y == cluster.y && actual.z == cluster.z) return;
  const dim3& grid = launch_->grid;
  const bool divides =
      grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0;
  // No thread has executed more than the kernel's first statement, so the grid can be restarted
  // with clusters.
  if (launch_->cluster_size() != 1 || !divides) report_cluster_dims(*this, cluster);
  wanted_cluster_ = cluster;
  abandon();
}

void* BlockRunner::map_shared(void* address, unsigned rank, const char* file, int line) {
  set_place(file, line);
  if (rank >= launch_->cluster_size()) report_bad_mapping(*this, "the cluster has no such rank");
  const bool own = launch_->block_of_cluster(launch_->cluster_of(number_), rank) == number_;
  SharedMemory& theirs = own ? shared_ : gang_->block_of_cluster(*this, rank).shared_;
  char* mapped = theirs.find_for(shared_, static_cast<char*>(address));
  if (!mapped) report_bad_mapping(*this, "the address is not in shared memory of the block");
  return own ? address : mapped;
}

unsigned BlockRunner::to_window(const void* address, const char* file, int line) {
  set_place(file, line);
  const unsigned window = shared_.to_window(static_cast<const char*>(address));
  if (!window) report_not_shared(*this, "the pointer does not point to shared memory");
  return window;
}

void* BlockRunner::from_window(std::size_t window, const char* file, int line) {
  set_place(file, line);
  char* address = window >> 32 ? nullptr : shared_.from_window(static_cast<unsigned>(window));
  if (!address) report_not_shared(*this, "the number is not an address of shared memory");
  return address;
}

}  // namespace hostcuda
