#include "cluster/transport.h"
#include "nbody/cuda.h"

#ifdef NBODY_HAS_NCCL
#include <nccl.h>

namespace nbody {
namespace {

void check(ncclResult_t result, const char* expression, const char* file, int line) {
  if (result == ncclSuccess) return;
  std::string error = std::string("NCCL: ") + ncclGetErrorString(result);
  if (result == ncclUnhandledCudaError)
    error += std::string(", ") + cudaGetErrorName(cudaPeekAtLastError());
  cuda_failed(error, expression, file, line);
}

}  // namespace
}  // namespace nbody

#define NCCL_CHECK(expression) check((expression), #expression, __FILE__, __LINE__)

namespace nbody {
namespace {

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
    NCCL_CHECK(ncclGroupStart());
    for (const Message& message : sent)
      NCCL_CHECK(ncclSend(message.data, message.bytes, ncclInt8, message.peer, ranks_, nullptr));
    for (const Message& message : received)
      NCCL_CHECK(ncclRecv(message.data, message.bytes, ncclInt8, message.peer, ranks_, nullptr));
    NCCL_CHECK(ncclGroupEnd());
  }

  // The root's copy engine reads the host, and NVLink or the network does the rest. A part at a
  // time goes through the root's device, in stream order.
  void scatter(const std::vector<Body>& bodies, const std::vector<std::size_t>& first,
               Body* own) override {
    const auto bytes = [&](int r) { return (first[r + 1] - first[r]) * sizeof(Body); };
    if (!is_root()) {
      if (bytes(rank()) > 0) exchange({}, {{0, own, bytes(rank())}});
      return;
    }
    for (int peer = 1; peer < count(); ++peer) {
      if (bytes(peer) == 0) continue;
      CUDA_CHECK(cudaMemcpyAsync(staging(bytes(peer)), &bodies[first[peer]], bytes(peer),
                                 cudaMemcpyHostToDevice, nullptr));
      exchange({{peer, staging(bytes(peer)), bytes(peer)}}, {});
    }
    CUDA_CHECK(cudaMemcpyAsync(own, bodies.data(), bytes(0), cudaMemcpyHostToDevice, nullptr));
  }

  void gather(const Body* own, const std::vector<std::size_t>& first,
              std::vector<Body>& bodies) override {
    const auto bytes = [&](int r) { return (first[r + 1] - first[r]) * sizeof(Body); };
    if (!is_root()) {
      if (bytes(rank()) > 0) exchange({{0, const_cast<Body*>(own), bytes(rank())}}, {});
      CUDA_CHECK(cudaDeviceSynchronize());
      return;
    }
    CUDA_CHECK(cudaMemcpyAsync(bodies.data(), own, bytes(0), cudaMemcpyDeviceToHost, nullptr));
    for (int peer = 1; peer < count(); ++peer) {
      if (bytes(peer) == 0) continue;
      exchange({}, {{peer, staging(bytes(peer)), bytes(peer)}});
      CUDA_CHECK(cudaMemcpyAsync(&bodies[first[peer]], staging(bytes(peer)), bytes(peer),
                                 cudaMemcpyDeviceToHost, nullptr));
    }
    CUDA_CHECK(cudaDeviceSynchronize());
  }

  void abort() override { ncclCommAbort(ranks_); }

 private:
  void* staging(std::size_t bytes) {
    if (staging_.bytes() < bytes) {
      staging_ = {};
      staging_ = DeviceArray<char>(bytes);
    }
    return staging_.get();
  }

  ncclComm_t ranks_ = nullptr;
  DeviceArray<char> staging_;
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
std::unique_ptr<Cluster> nccl_transport(MPI_Comm) {
  throw UsageError("NBODY_TRANSPORT: \"nccl\" is not allowed; this program was built without NCCL");
}

}  // namespace nbody

#endif
