// Sockets that connect all processes of a communicator, and transfers through them.
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
  // All ranks must pass the same name. Throws std::runtime_error if a rank does not connect.
  Mesh(const std::string& name, int ranks, int rank);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(sockets_.size()); }

  // Runs all transfers concurrently and waits until they have ended. Transfers between the same two
  // ranks keep their order.
  End run(std::vector<Transfer> transfers, const std::atomic<bool>& aborted);

 private:
  int rank_;
  std::vector<int> sockets_;  // the entry of this rank is -1
};

}  // namespace hostcuda::nccl
