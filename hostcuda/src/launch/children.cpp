#include "launch/children.h"

#include <algorithm>
#include <atomic>

#include "runtime/device.h"
#include "support/config.h"
#include "support/random.h"

namespace hostcuda {
namespace {

std::atomic<std::size_t> pending = 0;

// Handles of kernels' streams and events. No pointer to an object has such a value.
template <class Handle>
Handle new_handle() {
  static std::atomic<std::uintptr_t> made = 0;
  return reinterpret_cast<Handle>(++made * 16 + 8);
}

}  // namespace

void Children::clear() {
  operations_.clear();
  last_.clear();
  recorded_.clear();
  awaited_.clear();
}

void Children::append(ChildOperation operation, cudaStream_t stream) {
  if (stream != cudaStreamFireAndForget) {
    if (const auto last = last_.find(stream); last != last_.end())
      operation.dependencies.push_back(last->second);
    const std::vector<std::size_t> awaited = std::exchange(awaited_[stream], {});
    operation.dependencies.insert(operation.dependencies.end(), awaited.begin(), awaited.end());
    last_[stream] = operations_.size();
  }
  operations_.push_back(std::move(operation));
}

void Children::record(cudaEvent_t event, cudaStream_t stream) {
  const auto last = last_.find(stream);
  if (last != last_.end())
    recorded_[event] = last->second;
  else
    recorded_.erase(event);
}

void Children::wait(cudaStream_t stream, cudaEvent_t event) {
  const auto recorded = recorded_.find(event);
  if (recorded != recorded_.end()) awaited_[stream].push_back(recorded->second);
}

std::vector<ChildOperation> Children::take() {
  std::vector<ChildOperation> taken = std::move(operations_);
  clear();
  return taken;
}

cudaStream_t Family::create_stream() {
  const std::lock_guard lock(mutex_);
  return *streams_.insert(new_handle<cudaStream_t>()).first;
}

bool Family::destroy_stream(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  return streams_.erase(stream) == 1;
}

bool Family::has_stream(cudaStream_t stream) {
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
      stream == cudaStreamFireAndForget || stream == cudaStreamTailLaunch)
    return true;
  const std::lock_guard lock(mutex_);
  return streams_.contains(stream);
}

cudaEvent_t Family::create_event() {
  const std::lock_guard lock(mutex_);
  return *events_.insert(new_handle<cudaEvent_t>()).first;
}

bool Family::destroy_event(cudaEvent_t event) {
  const std::lock_guard lock(mutex_);
  return events_.erase(event) == 1;
}

bool Family::has_event(cudaEvent_t event) {
  const std::lock_guard lock(mutex_);
  return events_.contains(event);
}

void Family::append_tail(ChildOperation operation) {
  const std::lock_guard lock(mutex_);
  tail_.push_back(std::move(operation));
}

std::vector<ChildOperation> Family::take_tail() {
  const std::lock_guard lock(mutex_);
  return std::exchange(tail_, {});
}

bool add_pending_launch() {
  if (++pending <= pending_launches()) return true;
  --pending;
  return false;
}

void pending_launch_begins() { --pending; }

void forget_pending_launches() { pending = 0; }

std::vector<std::size_t> order_of(const std::vector<ChildOperation>& operations,
                                  std::uint64_t launch, std::uint64_t block) {
  std::vector<std::size_t> order;
  std::vector<bool> done(operations.size());
  std::vector<std::size_t> ready;
  RandomNumbers random(config().seed, launch, block);
  const auto can_run = [&](std::size_t i) {
    return std::ranges::all_of(operations[i].dependencies,
                               [&](std::size_t earlier) { return done[earlier]; });
  };
  // Operations depend only on earlier ones, so the order in which they were launched is valid.
  if (config().order == Order::forward) {
    for (std::size_t i = 0; i < operations.size(); ++i) order.push_back(i);
    return order;
  }
  std::vector<std::vector<std::size_t>> followers(operations.size());
  for (std::size_t i = 0; i < operations.size(); ++i) {
    for (const std::size_t earlier : operations[i].dependencies) followers[earlier].push_back(i);
    if (operations[i].dependencies.empty()) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::size_t chosen =
        config().order == Order::reverse ? ready.size() - 1 : random.below(ready.size());
    const std::size_t next = ready[chosen];
    ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(chosen));
    if (done[next]) continue;
    done[next] = true;
    order.push_back(next);
    for (const std::size_t follower : followers[next])
      if (can_run(follower)) ready.push_back(follower);
  }
  return order;
}

}  // namespace hostcuda
