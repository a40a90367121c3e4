// Blocks that wait for each other: the blocks of a cluster, or of a whole cooperative grid.
#ifndef HOSTCUDA_SRC_EXECUTION_GANG_H
#define HOSTCUDA_SRC_EXECUTION_GANG_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "execution/block.h"

namespace hostcuda {

// Runs its blocks round-robin on one operating-system thread. A block runs until none of its
// threads can continue, or until they only spin. A block keeps its fibers and shared memory while
// other blocks run. A GPU may also run the blocks and their threads in this order.
class Gang {
 public:
  void run(const Launch& launch, const std::vector<std::uint64_t>& blocks);
  // See BlockRunner::wanted_cluster.
  const std::optional<dim3>& wanted_cluster() const { return wanted_cluster_; }
  // The launches by the blocks. They share one list, so a stream that several of them use keeps
  // its order.
  Children& children() { return children_; }

  // Called by threads of the gang's blocks.
  void arrive(const BlockRunner& block, Thread& thread, Scope scope);
  bool has_passed(const BlockRunner& block, Thread& thread, Scope scope);
  void thread_ended(const BlockRunner& block, Thread& thread);
  BlockRunner& block_of_cluster(const BlockRunner& block, unsigned rank);

 private:
  // A barrier across blocks.
  struct Barrier {
    std::vector<BlockRunner*> blocks;
    unsigned expected = 0, arrived = 0;  // thread counts
    std::uint32_t completed = 0;         // how often the barrier has been completed
  };
  Barrier& barrier_of(const BlockRunner& block, Scope scope);
  void complete_if_all_arrived(Barrier& barrier, Scope scope);

  std::vector<std::unique_ptr<BlockRunner>> runners_;  // kept for the next gang
  std::map<std::uint64_t, BlockRunner*> by_number_;
  std::map<std::uint64_t, Barrier> clusters_;
  Barrier grid_;
  std::optional<dim3> wanted_cluster_;
  Children children_;
};

}  // namespace hostcuda

#endif
