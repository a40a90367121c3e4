#include <algorithm>
#include <memory>

#include "cluster/transport.h"
#include "nbody/cuda.h"

namespace nbody {
namespace {

constexpr int kTag = 1;
constexpr std::size_t kPiece = std::size_t{1} << 30;  // MPI's counts are of type int

// Pinned memory that grows on demand. When the memory grows, its contents are lost.
class Staging {
 public:
  char* of(std::size_t bytes) {
    if (bytes > 0 && (!memory_ || memory_->size() < bytes)) {
      memory_.reset();
      memory_ = std::make_unique<PinnedArray<char>>(bytes);
    }
    return memory_ ? memory_->data() : nullptr;
  }

 private:
  std::unique_ptr<PinnedArray<char>> memory_;
};

class Requests {
 public:
  explicit Requests(MPI_Comm ranks) : ranks_(ranks) {}
  void send(const void* data, std::size_t bytes, int to) {
    pieces(bytes, [&](std::size_t first, int count) {
      MPI_Isend(static_cast<const char*>(data) + first, count, MPI_BYTE, to, kTag, ranks_, add());
    });
  }
  void receive(void* data, std::size_t bytes, int from) {
    pieces(bytes, [&](std::size_t first, int count) {
      MPI_Irecv(static_cast<char*>(data) + first, count, MPI_BYTE, from, kTag, ranks_, add());
    });
  }
  void wait() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

 private:
  template <class Begin>
  static void pieces(std::size_t bytes, const Begin& begin) {
    for (std::size_t first = 0; first < bytes; first += kPiece)
      begin(first, static_cast<int>(std::min(kPiece, bytes - first)));
  }
  MPI_Request* add() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  MPI_Comm ranks_;
  std::vector<MPI_Request> requests_;
};

std::size_t bytes_of(const std::vector<Message>& messages) {
  std::size_t bytes = 0;
  for (const Message& message : messages) bytes += message.bytes;
  return bytes;
}

class MpiTransport : public Cluster {
 public:
  MpiTransport(MPI_Comm ranks, bool device_pointers)
      : Cluster(rank_in(ranks), count_of(ranks)),
        ranks_(ranks),
        device_pointers_(device_pointers) {}

  void all_gather(void* all, std::size_t bytes_of_part) override {
    const std::size_t before = bytes_of_part * rank(), bytes = bytes_of_part * count();
    char* const device = static_cast<char*>(all);
    char* const host = device_pointers_ ? device : staging_.of(bytes);
    if (device_pointers_) {
      CUDA_CHECK(cudaDeviceSynchronize());
    } else {
      CUDA_CHECK(cudaMemcpy(host + before, device + before, bytes_of_part, cudaMemcpyDeviceToHost));
    }
    Requests requests(ranks_);
    for (int peer = 0; peer < count(); ++peer) {
      if (peer == rank()) continue;
      requests.send(host + before, bytes_of_part, peer);
      requests.receive(host + bytes_of_part * peer, bytes_of_part, peer);
    }
    requests.wait();
    if (!device_pointers_) CUDA_CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  }

  void exchange(const std::vector<Message>& sent, const std::vector<Message>& received) override {
    char* host = device_pointers_ ? nullptr : staging_.of(bytes_of(sent) + bytes_of(received));
    if (device_pointers_) CUDA_CHECK(cudaDeviceSynchronize());
    Requests requests(ranks_);
    for (const Message& message : sent) {
      if (!device_pointers_)
        CUDA_CHECK(cudaMemcpy(host, message.data, message.bytes, cudaMemcpyDeviceToHost));
      requests.send(device_pointers_ ? message.data : host, message.bytes, message.peer);
      host += device_pointers_ ? 0 : message.bytes;
    }
    const char* arrived = host;
    for (const Message& message : received) {
      requests.receive(device_pointers_ ? message.data : host, message.bytes, message.peer);
      host += device_pointers_ ? 0 : message.bytes;
    }
    requests.wait();
    if (device_pointers_) return;
    for (const Message& message : received) {
      CUDA_CHECK(cudaMemcpy(message.data, arrived, message.bytes, cudaMemcpyHostToDevice));
      arrived += message.bytes;
    }
  }

  void scatter(const std::vector<Body>& bodies, const std::vector<std::size_t>& first,
               Body* own) override {
    Requests requests(ranks_);
    const std::size_t bytes = (first[rank() + 1] - first[rank()]) * sizeof(Body);
    const void* from = is_root() ? static_cast<const void*>(bodies.data()) : staging_.of(bytes);
    if (is_root()) {
      // The last ranks may have no bodies; their empty ranges begin at the end of the array.
      for (int peer = 1; peer < count(); ++peer)
        requests.send(bodies.data() + first[peer], (first[peer + 1] - first[peer]) * sizeof(Body),
                      peer);
    } else {
      requests.receive(staging_.of(bytes), bytes, 0);
      requests.wait();
    }
    CUDA_CHECK(cudaMemcpy(own, from, bytes, cudaMemcpyHostToDevice));
    requests.wait();
  }

  void gather(const Body* own, const std::vector<std::size_t>& first,
              std::vector<Body>& bodies) override {
    Requests requests(ranks_);
    const std::size_t bytes = (first[rank() + 1] - first[rank()]) * sizeof(Body);
    void* const to = is_root() ? static_cast<void*>(bodies.data()) : staging_.of(bytes);
    for (int peer = 1; is_root() && peer < count(); ++peer)
      requests.receive(bodies.data() + first[peer], (first[peer + 1] - first[peer]) * sizeof(Body),
                       peer);
    CUDA_CHECK(cudaMemcpy(to, own, bytes, cudaMemcpyDeviceToHost));
    if (!is_root()) requests.send(to, bytes, 0);
    requests.wait();
  }

  void abort() override {}  // nothing to do: calls that wait in MPI end with the process

 private:
  MPI_Comm ranks_;
  bool device_pointers_;
  Staging staging_;
};

}  // namespace

std::unique_ptr<Cluster> mpi_transport(MPI_Comm ranks, bool device_pointers) {
  return std::make_unique<MpiTransport>(ranks, device_pointers);
}

}  // namespace nbody
