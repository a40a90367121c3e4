// What kernels have launched: child grids, and copies and fills between them.
#ifndef HOSTCUDA_SRC_LAUNCH_CHILDREN_H
#define HOSTCUDA_SRC_LAUNCH_CHILDREN_H

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "execution/block_state.h"

namespace hostcuda {

struct ChildOperation {
  std::optional<Launch> launch;  // otherwise `work` is the operation
  std::function<void()> work = nullptr;
  std::vector<std::size_t> dependencies = {};  // earlier operations of the same block
};

// The operations of one block. They begin when the block has ended, in an order that their streams
// and events allow.
class Children {
 public:
  bool empty() const { return operations_.empty(); }
  std::size_t count() const { return operations_.size(); }
  void clear();
  // Appends an operation to a stream, which may be cudaStreamFireAndForget but not the tail stream.
  void append(ChildOperation operation, cudaStream_t stream);
  void record(cudaEvent_t event, cudaStream_t stream);
  void wait(cudaStream_t stream, cudaEvent_t event);
  std::vector<ChildOperation> take();

 private:
  std::vector<ChildOperation> operations_;
  std::map<cudaStream_t, std::size_t> last_;  // of each stream
  std::map<cudaEvent_t, std::size_t> recorded_;
  std::map<cudaStream_t, std::vector<std::size_t>> awaited_;  // by the stream's next operation
};

// What all blocks of one grid share. Blocks on several operating-system threads use it.
class Family {
 public:
  cudaStream_t create_stream();
  bool destroy_stream(cudaStream_t stream);
  // True for a stream of a kernel of this grid and for the streams that every grid has.
  bool has_stream(cudaStream_t stream);
  cudaEvent_t create_event();
  bool destroy_event(cudaEvent_t event);
  bool has_event(cudaEvent_t event);
  void append_tail(ChildOperation operation);
  std::vector<ChildOperation> take_tail();

  // The operations of ended blocks, if they begin only when the whole grid has ended.
  std::vector<std::vector<ChildOperation>> later;

 private:
  std::mutex mutex_;
  std::set<cudaStream_t> streams_;
  std::set<cudaEvent_t> events_;
  std::vector<ChildOperation> tail_;
};

// Counts a launch that has not begun yet. Returns false if there are too many such launches.
bool add_pending_launch();
void pending_launch_begins();
void forget_pending_launches();

// Returns the order in which the operations run: any order that their dependencies allow is valid,
// and HOSTCUDA_ORDER chooses it. `launch` and `block` seed a random order.
std::vector<std::size_t> order_of(const std::vector<ChildOperation>& operations,
                                  std::uint64_t launch, std::uint64_t block);

}  // namespace hostcuda

#endif
