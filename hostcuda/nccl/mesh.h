// Sockets between all processes of a communicator, and transfers over them.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace hostcuda::nccl {

struct Transfer {
  int peer;
  bool sends;
  char* data;
  std::size_t bytes;
};

enum class End { done, peer_gone, sizes_differ, aborted };

class Mesh {
 public:
  // All ranks call it with the same name. Throws std::runtime_error.
  Mesh(const std::string& name, int ranks, int rank);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(sockets_.size()); }

  // Runs all transfers at once, but those between two ranks in order. Returns when done or failed.
  End run(std::vector<Transfer> transfers, const std::atomic<bool>& aborted);

 private:
  int rank_;
  std::vector<int> sockets_;  // -1 for this rank itself
};

}  // namespace hostcuda::nccl
