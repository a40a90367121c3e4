#include "cluster/transport.h"
#include "nbody/cuda.h"

#ifdef NBODY_HAS_NCCL
#include <nccl.h>

#include <array>

namespace nbody {
namespace {

void check(ncclResult_t result, const char* expression, const char* file, int line) {
  if (result == ncclSuccess) return;
  std::string error = std::string("NCCL: ") + ncclGetErrorString(result);
  if (result == ncclUnhandledCudaError)
    error += std::string(", ") + cudaGetErrorName(cudaPeekAtLastError());
  cuda_failed(error.c_str(), "", expression, file, line);
}

#define NCCL_CHECK(expression) check((expression), #expression, __FILE__, __LINE__)

class NcclTransport : public Cluster {
 public:
  explicit NcclTransport(MPI_Comm ranks) : Cluster(rank_in(ranks), count_of(ranks)) {
    ncclUniqueId id{};
    if (is_root()) NCCL_CHECK(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, ranks);
    NCCL_CHECK(ncclCommInitRank(&ranks_, count(), id, rank()));
  }
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;
  ~NcclTransport() override { ncclCommDestroy(ranks_); }

  void all_gather(void* all, std::size_t bytes_of_part) override {
    NCCL_CHECK(ncclAllGather(static_cast<char*>(all) + bytes_of_part * rank(), all, bytes_of_part,
                             ncclInt8, ranks_, nullptr));
  }

  void exchange(const std::vector<Message>& sent, const std::vector<Message>& received) override {
    exchange(sent, received, nullptr);
  }

  // The root's copy engine copies from host memory to the root's device; NVLink or the network
  // carries the data from there to the other ranks. Two ranks' parts pass through the root's device
  // at the same time: one part is copied to the device while the other part is sent from it.
  void scatter(const std::vector<Body>& bodies, const std::vector<std::size_t>& first,
               Body* own) override {
    const auto bytes = [&](int r) { return (first[r + 1] - first[r]) * sizeof(Body); };
    if (!is_root()) {
      if (bytes(rank()) > 0) exchange({}, {{0, own, bytes(rank())}});
      return;
    }
    for (int peer = 1; peer < count(); ++peer) {
      if (bytes(peer) == 0) continue;
      Lane& lane = lane_of(peer, bytes(peer));
      CUDA_CHECK(cudaStreamWaitEvent(copying_.get(), lane.sent.get(), 0));
      CUDA_CHECK(cudaMemcpyAsync(lane.memory.get(), &bodies[first[peer]], bytes(peer),
                                 cudaMemcpyHostToDevice, copying_.get()));
      lane.copied.record(copying_.get());
      CUDA_CHECK(cudaStreamWaitEvent(sending_.get(), lane.copied.get(), 0));
      exchange({{peer, lane.memory.get(), bytes(peer)}}, {}, sending_.get());
      lane.sent.record(sending_.get());
    }
    CUDA_CHECK(
        cudaMemcpyAsync(own, bodies.data(), bytes(0), cudaMemcpyHostToDevice, copying_.get()));
  }

  void gather(const Body* own, const std::vector<std::size_t>& first,
              std::vector<Body>& bodies) override {
    const auto bytes = [&](int r) { return (first[r + 1] - first[r]) * sizeof(Body); };
    if (!is_root()) {
      if (bytes(rank()) > 0) exchange({{0, const_cast<Body*>(own), bytes(rank())}}, {});
      CUDA_CHECK(cudaDeviceSynchronize());
      return;
    }
    CUDA_CHECK(
        cudaMemcpyAsync(bodies.data(), own, bytes(0), cudaMemcpyDeviceToHost, copying_.get()));
    for (int peer = 1; peer < count(); ++peer) {
      if (bytes(peer) == 0) continue;
      Lane& lane = lane_of(peer, bytes(peer));
      CUDA_CHECK(cudaStreamWaitEvent(sending_.get(), lane.copied.get(), 0));
      exchange({}, {{peer, lane.memory.get(), bytes(peer)}}, sending_.get());
      lane.sent.record(sending_.get());
      CUDA_CHECK(cudaStreamWaitEvent(copying_.get(), lane.sent.get(), 0));
      CUDA_CHECK(cudaMemcpyAsync(&bodies[first[peer]], lane.memory.get(), bytes(peer),
                                 cudaMemcpyDeviceToHost, copying_.get()));
      lane.copied.record(copying_.get());
    }
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void abort() override { ncclCommAbort(ranks_); }

 private:
  // Buffer on the root's device for a part on its way to or from another rank.
  struct Lane {
    DeviceArray<char> memory;
    Event copied, sent;  // after the copy from or to the host; after the transfer to or from a peer
  };

  void exchange(const std::vector<Message>& sent, const std::vector<Message>& received,
                cudaStream_t stream) {
    NCCL_CHECK(ncclGroupStart());
    for (const Message& message : sent)
      NCCL_CHECK(ncclSend(message.data, message.bytes, ncclInt8, message.peer, ranks_, stream));
    for (const Message& message : received)
      NCCL_CHECK(ncclRecv(message.data, message.bytes, ncclInt8, message.peer, ranks_, stream));
    NCCL_CHECK(ncclGroupEnd());
  }

  Lane& lane_of(int peer, std::size_t bytes) {
    Lane& lane = lanes_[static_cast<std::size_t>(peer) % lanes_.size()];
    if (lane.memory.bytes() < bytes) {
      CUDA_CHECK(cudaDeviceSynchronize());  // the buffer's last part may still be in transit
      lane.memory = {};
      lane.memory = DeviceArray<char>(bytes);
    }
    return lane;
  }

  ncclComm_t ranks_ = nullptr;
  // Blocking streams: a call waits for all earlier work in the default stream, and all later work
  // in the default stream waits for the call.
  Stream copying_, sending_;
  std::array<Lane, 2> lanes_;
};

}  // namespace

bool has_nccl() { return true; }
std::unique_ptr<Cluster> nccl_transport(MPI_Comm ranks) {
  return std::make_unique<NcclTransport>(ranks);
}

}  // namespace nbody

#else

namespace nbody {

bool has_nccl() { return false; }
std::unique_ptr<Cluster> nccl_transport(MPI_Comm) { return nullptr; }  // never called

}  // namespace nbody

#endif
