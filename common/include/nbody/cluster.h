// Ranks: the processes of one run, one per device. MPI starts them. Rank 0, the root, reads, checks
// and writes files as every step does; the other ranks wait for the root to call simulate().
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "nbody/step.h"

namespace nbody {

// The ranks divide either the systems among themselves, which needs no communication, or the bodies
// of each system.
enum class Distribution { automatic, systems, bodies };

// Facts about this run's ranks, for the result record; only `asked` comes from the command line.
struct Ranks {
  int count = 1;
  int hosts = 1;
  std::string transport = {};  // "nccl", "mpi"; "" in a program without ranks
  Distribution asked = Distribution::automatic;
  std::string distribution = {};  // the distribution that the step chose
};
inline Ranks& ranks() {
  static Ranks ranks;
  return ranks;
}

// Device memory to send to, or receive from, another rank.
struct Message {
  int peer;
  void* data;
  std::size_t bytes;
};

// Exchanges data between the devices of all ranks. Every rank makes the same calls in the same
// order. Like a kernel, each call waits for earlier work in the default stream.
class Cluster {
 public:
  virtual ~Cluster() = default;
  int rank() const { return rank_; }
  int count() const { return count_; }
  bool is_root() const { return rank_ == 0; }

  // Sends the part of every rank to all other ranks. All parts have the same size, and each rank
  // must have filled in its own part of `all` before the call. `all` is device memory of
  // count() * bytes_of_part bytes, with the parts in the order of the ranks.
  virtual void all_gather(void* all, std::size_t bytes_of_part) = 0;
  // Sends and receives all messages at once. Messages between two ranks keep their order.
  virtual void exchange(const std::vector<Message>& sent, const std::vector<Message>& received) = 0;
  // scatter() copies the root's bodies to the devices, gather() copies them back. Rank r holds the
  // bodies from first[r] to first[r + 1] - 1; `first` has count() + 1 entries. Only the root's
  // vector is read or written. `own` is device memory.
  virtual void scatter(const std::vector<Body>& bodies, const std::vector<std::size_t>& first,
                       Body* own) = 0;
  virtual void gather(const Body* own, const std::vector<std::size_t>& first,
                      std::vector<Body>& bodies) = 0;
  // Returns true on every rank if the argument is true on at least one rank.
  bool any(bool of_this_rank) const;
  // Ends calls that are waiting for ranks that no longer answer; any thread may call this function.
  virtual void abort() = 0;

 protected:
  Cluster(int rank, int count) : rank_(rank), count_(count) {}

 private:
  int rank_, count_;
};
Cluster& cluster();

// Calls `work` on every rank, each with its own device, and returns the exit code. An error on one
// rank ends the others too.
int run_on_ranks(const std::string& name, QueryDevice query, int argc, char** argv,
                 const std::function<int()>& work);

// Calls step_main() on the root. The other ranks call simulate() directly, with systems that have
// sizes but no bodies.
int run_cluster(StepInfo info, Simulate simulate, QueryDevice query, int argc, char** argv);

inline int cluster_main(const StepInfo& info, Simulate simulate, int argc, char** argv) {
  return run_cluster(info, simulate, query_device, argc, argv);
}

}  // namespace nbody
