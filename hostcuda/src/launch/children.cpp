#include "launch/children.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>

#include "support/config.h"
#include "support/random.h"

namespace hostcuda {
namespace {

// Handles of kernels' streams and events. No pointer to an object has such a value.
template <class Handle>
Handle new_handle() {
  static std::atomic<std::uintptr_t> made = 0;
  return reinterpret_cast<Handle>(++made * 16 + 8);
}

// Returns an order that the operations' dependencies allow, if HOSTCUDA_ORDER is not `forward`.
std::vector<std::size_t> other_order(const std::vector<ChildOperation>& operations,
                                     RandomNumbers random) {
  std::vector<std::size_t> order;
  std::vector<bool> done(operations.size());
  std::vector<std::size_t> ready;
  const auto can_run = [&](std::size_t i) {
    return std::ranges::all_of(operations[i].dependencies,
                               [&](std::size_t earlier) { return done[earlier]; });
  };
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

template <class Function>
auto Family::with_shared(const Function& function) {
  static auto* mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  if (!shared_) shared_ = std::make_unique<Shared>();
  return function(*shared_);
}

cudaStream_t Family::create_stream() {
  return with_shared(
      [](Shared& shared) { return *shared.streams.insert(new_handle<cudaStream_t>()).first; });
}

bool Family::destroy_stream(cudaStream_t stream) {
  return with_shared([&](Shared& shared) { return shared.streams.erase(stream) == 1; });
}

bool Family::has_stream(cudaStream_t stream) {
  if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
      stream == cudaStreamFireAndForget || stream == cudaStreamTailLaunch)
    return true;
  return with_shared([&](Shared& shared) { return shared.streams.contains(stream); });
}

cudaEvent_t Family::create_event() {
  return with_shared(
      [](Shared& shared) { return *shared.events.insert(new_handle<cudaEvent_t>()).first; });
}

bool Family::destroy_event(cudaEvent_t event) {
  return with_shared([&](Shared& shared) { return shared.events.erase(event) == 1; });
}

bool Family::has_event(cudaEvent_t event) {
  return with_shared([&](Shared& shared) { return shared.events.contains(event); });
}

void Family::append_tail(ChildOperation operation) {
  with_shared([&](Shared& shared) { shared.tail.push_back(std::move(operation)); });
}

void Family::append_later(std::vector<ChildOperation> operations) {
  with_shared(
      [&](Shared& shared) { std::ranges::move(operations, std::back_inserter(shared.later)); });
}

std::vector<ChildOperation> in_order(std::vector<ChildOperation> operations, std::uint64_t launch,
                                     std::uint64_t unit) {
  // Operations depend only on earlier ones, so the order in which they were launched is valid.
  if (config().order == Order::forward || operations.size() == 1) return operations;
  std::vector<ChildOperation> ordered;
  for (const std::size_t i : other_order(operations, RandomNumbers(config().seed, launch, unit)))
    ordered.push_back(std::move(operations[i]));
  return ordered;
}

}  // namespace hostcuda
