// The time of an access: the numbers of barriers, fences and other ordering events before it.
#ifndef HOSTCUDA_TRACE_RACES_EPOCHS_H
#define HOSTCUDA_TRACE_RACES_EPOCHS_H

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/stream.h"

namespace hostcuda::trace {

// A kernel or a copy, and its place in the order that streams and events define.
struct OperationRecord {
  OperationRecord() = default;
  explicit OperationRecord(const Operation& running)
      : stream(running.stream),
        of_graph(running.of_graph),
        number(running.clock[stream]),
        clock(running.clock) {}

  unsigned stream = 0;
  bool of_graph = false;
  std::uint64_t number = 0;  // the operation's number within its stream
  Clock clock;
  std::string what;  // "kernel f", "cudaMemcpyAsync"
  CodePlace place;
  dim3 grid, block;
  std::uint32_t kernel = 0;
  bool is_kernel = false;
  bool comes_after(const OperationRecord& other) const {
    return other.stream < clock.size() && clock[other.stream] >= other.number;
  }
};

// The time of a thread: how many barriers its block, its cluster and its grid have passed, how many
// warp functions its warp has completed, and how many fences the thread has made. Threads of a warp
// share an Epoch while these counts are the same. Without clusters, each block is a cluster.
struct Epoch {
  std::uint32_t operation = 0, block = 0, cluster = 0;
  std::uint32_t barriers = 0, cluster_barriers = 0, grid_barriers = 0;
  std::uint32_t warp_calls = 0, fences = 0;
};

class Epochs {
 public:
  // Begins an operation; all later accesses belong to it. Returns the operation's index.
  std::uint32_t begin_operation(OperationRecord record);
  std::uint32_t add(const Epoch& epoch);
  std::uint64_t launches() const { return launches_; }
  // False for a forgotten epoch, which precedes everything that happens now.
  bool is_known(std::uint32_t epoch) const { return epoch >= first_; }
  const Epoch& operator[](std::uint32_t epoch) const { return epochs_[epoch - first_]; }
  const OperationRecord& operation(std::uint32_t number) const { return operations_[number]; }
  const OperationRecord& operation_of(std::uint32_t epoch) const {
    return operations_[(*this)[epoch].operation];
  }

 private:
  void forget_the_past(const OperationRecord& next);
  std::vector<OperationRecord> operations_;
  std::uint64_t launches_ = 0;  // number of kernel launches
  std::vector<Epoch> epochs_;
  std::uint32_t first_ = 1;            // number of the first epoch in epochs_
  std::uint32_t first_operation_ = 0;  // the first operation that epochs_ may refer to
};

}  // namespace hostcuda::trace

#endif
