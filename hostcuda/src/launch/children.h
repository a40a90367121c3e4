// What kernels have launched: child grids, and copies and fills between them.
#ifndef HOSTCUDA_SRC_LAUNCH_CHILDREN_H
#define HOSTCUDA_SRC_LAUNCH_CHILDREN_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "execution/block_state.h"

namespace hostcuda {

struct ChildOperation {
  std::optional<Launch> launch;  // otherwise `work` is the operation
  std::function<void()> work = nullptr;
  std::vector<std::size_t> dependencies = {};  // earlier operations of the same list
};

// The operations of one block, or of a gang's blocks. They begin when the blocks have ended, in an
// order that their streams and events allow.
class Children {
 public:
  bool empty() const { return operations_.empty(); }
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
  // Appends operations of ended blocks that begin only when the whole grid has ended.
  void append_later(std::vector<ChildOperation> operations);

  // A kernel's first statement refuses blocks that are larger than its __launch_bounds__. The grid
  // then ends at once, and the launch fails.
  void refuse(unsigned allowed_threads) { allowed_threads_ = allowed_threads; }
  unsigned refused_because() const { return allowed_threads_; }  // 0: the grid is not refused

  // Called when the grid has ended.
  bool is_empty() const { return !shared_; }
  std::vector<ChildOperation> take_later() { return std::move(shared_->later); }
  std::vector<ChildOperation> take_tail() { return std::move(shared_->tail); }

 private:
  struct Shared {
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    std::vector<ChildOperation> tail, later;
  };
  template <class Function>
  auto with_shared(const Function& function);

  std::atomic<unsigned> allowed_threads_ = 0;
  std::unique_ptr<Shared> shared_;  // null until something uses it: few grids do
};

// Returns the operations in the order in which they run: any order that their dependencies allow is
// valid, and HOSTCUDA_ORDER chooses it. `launch` and `unit` seed a random order.
std::vector<ChildOperation> in_order(std::vector<ChildOperation> operations, std::uint64_t launch,
                                     std::uint64_t unit);

}  // namespace hostcuda

#endif
