#include "nccl.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "hostcuda/launch.h"
#include "mesh.h"
#include "reduction.h"

using hostcuda::nccl::End;
using hostcuda::nccl::Mesh;
using hostcuda::nccl::Transfer;

struct ncclComm {
  ncclComm(const std::string& name, int ranks, int rank) : mesh(name, ranks, rank) {}
  Mesh mesh;
  std::atomic<bool> aborted = false;
  std::atomic<ncclResult_t> error = ncclSuccess;
};

namespace {

using Queue = std::pair<ncclComm_t, cudaStream_t>;
struct Pending {
  std::vector<Transfer> transfers;
  std::vector<std::function<void()>> reductions;  // run after the transfers
};
thread_local int groups = 0;  // number of open groups
thread_local std::map<Queue, Pending> pending;

std::size_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
  }
  return 0;
}

// If a rank is gone, waits until another thread aborts the communicator, as an NCCL kernel does.
void run(ncclComm_t comm, const Pending& work) {
  if (comm->aborted) return;
  const End end = comm->mesh.run(work.transfers, comm->aborted);
  if (end == End::done)
    for (const auto& reduction : work.reductions) reduction();
  if (end == End::done || end == End::aborted) return;
  if (end == End::sizes_differ)
    std::fprintf(stderr,
                 "hostcuda: NCCL: rank %d and another rank made calls that do not match, or passed "
                 "different counts\n",
                 comm->mesh.rank());
  comm->error = end == End::peer_gone ? ncclRemoteError : ncclInvalidUsage;
  while (!comm->aborted) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

ncclResult_t enqueue_pending() {
  const auto all = std::exchange(pending, {});
  for (const auto& [queue, one] : all) {
    const ncclComm_t comm = queue.first;
    const auto work = [comm, one = one] { run(comm, one); };
    if (hostcuda::enqueue_work(queue.second, work) != cudaSuccess) return ncclUnhandledCudaError;
  }
  return ncclSuccess;
}

ncclResult_t add(ncclComm_t comm, cudaStream_t stream, int peer, bool sends, const void* data,
                 std::size_t bytes) {
  if (comm == nullptr || peer < 0 || peer >= comm->mesh.ranks()) return ncclInvalidArgument;
  if (data == nullptr && bytes > 0) return ncclInvalidArgument;
  if (comm->aborted) return ncclInternalError;  // NCCL returns this after an abort
  pending[{comm, stream}].transfers.push_back(
      {peer, sends, static_cast<char*>(const_cast<void*>(data)), bytes});
  return ncclSuccess;
}

bool is_rank(ncclComm_t comm, int rank) {
  return comm != nullptr && rank >= 0 && rank < comm->mesh.ranks();
}

// Receives `count` numbers from each rank, and then writes their reduction.
void receive_and_reduce(void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t operation,
                        ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = count * bytes_of(type);
  const int ranks = comm->mesh.ranks();
  const auto parts = std::make_shared<std::vector<char>>(bytes * static_cast<std::size_t>(ranks));
  for (int peer = 0; peer < ranks; ++peer)
    add(comm, stream, peer, false, parts->data() + bytes * static_cast<std::size_t>(peer), bytes);
  pending[{comm, stream}].reductions.push_back(
      [=] { hostcuda::nccl::reduce(parts->data(), ranks, to, count, type, operation); });
}

}  // namespace

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "internal error";
  }
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return ncclInvalidArgument;
  std::random_device random;
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "hostcuda-nccl-%08x%08x%08x%08x", random(),
                random(), random(), random());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  if (cudaFree(nullptr) != cudaSuccess) return ncclUnhandledCudaError;
  try {
    *comm = new ncclComm(std::string(id.internal, strnlen(id.internal, sizeof id.internal)), ranks,
                         rank);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostcuda: NCCL: rank %d of %d: %s\n", rank, ranks, error.what());
    return ncclSystemError;
  }
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  if (cudaDeviceSynchronize() != cudaSuccess) return ncclUnhandledCudaError;
  delete comm;
  return ncclSuccess;
}

// Does not free the communicator, because another thread's call may still use it. A list keeps the
// communicator reachable, so that it is not reported as a leak.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclInvalidArgument;
  static std::mutex mutex;
  static auto* const aborted = new std::set<ncclComm_t>;  // outlives the last destructor
  const std::scoped_lock lock(mutex);
  aborted->insert(comm);
  comm->aborted = true;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr || error == nullptr) return ncclInvalidArgument;
  *error = comm->error;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (comm == nullptr || count == nullptr) return ncclInvalidArgument;
  *count = comm->mesh.ranks();
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (comm == nullptr || rank == nullptr) return ncclInvalidArgument;
  *rank = comm->mesh.rank();
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++groups;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (groups == 0) return ncclInvalidUsage;
  return --groups == 0 ? enqueue_pending() : ncclSuccess;
}

ncclResult_t ncclSend(const void* data, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  const ncclResult_t added = add(comm, stream, peer, true, data, count * bytes_of(type));
  return added == ncclSuccess && groups == 0 ? enqueue_pending() : added;
}

ncclResult_t ncclRecv(void* data, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  const ncclResult_t added = add(comm, stream, peer, false, data, count * bytes_of(type));
  return added == ncclSuccess && groups == 0 ? enqueue_pending() : added;
}

ncclResult_t ncclAllGather(const void* part, void* all, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr || part == nullptr || all == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = count * bytes_of(type);
  for (int peer = 0; peer < comm->mesh.ranks(); ++peer) {
    char* const place = static_cast<char*>(all) + bytes * static_cast<std::size_t>(peer);
    // In an in-place call, this rank's part is already where it belongs.
    if (peer == comm->mesh.rank() && place == part) continue;
    add(comm, stream, peer, true, part, bytes);
    add(comm, stream, peer, false, place, bytes);
  }
  return groups == 0 ? enqueue_pending() : ncclSuccess;
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  if (!is_rank(comm, root) || to == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = count * bytes_of(type);
  if (comm->mesh.rank() == root)
    for (int peer = 0; peer < comm->mesh.ranks(); ++peer)
      if (peer != root || from != to) add(comm, stream, peer, true, from, bytes);
  if (comm->mesh.rank() != root || from != to) add(comm, stream, root, false, to, bytes);
  return groups == 0 ? enqueue_pending() : ncclSuccess;
}

ncclResult_t ncclBcast(void* data, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return ncclBroadcast(data, data, count, type, root, comm, stream);
}

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr || from == nullptr || to == nullptr) return ncclInvalidArgument;
  for (int peer = 0; peer < comm->mesh.ranks(); ++peer)
    add(comm, stream, peer, true, from, count * bytes_of(type));
  receive_and_reduce(to, count, type, operation, comm, stream);
  return groups == 0 ? enqueue_pending() : ncclSuccess;
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream) {
  if (!is_rank(comm, root) || from == nullptr) return ncclInvalidArgument;
  if (comm->mesh.rank() == root && to == nullptr) return ncclInvalidArgument;
  add(comm, stream, root, true, from, count * bytes_of(type));
  if (comm->mesh.rank() == root) receive_and_reduce(to, count, type, operation, comm, stream);
  return groups == 0 ? enqueue_pending() : ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  if (comm == nullptr || from == nullptr || to == nullptr) return ncclInvalidArgument;
  const std::size_t bytes = count * bytes_of(type);
  for (int peer = 0; peer < comm->mesh.ranks(); ++peer)
    add(comm, stream, peer, true,
        static_cast<const char*>(from) + bytes * static_cast<std::size_t>(peer), bytes);
  receive_and_reduce(to, count, type, operation, comm, stream);
  return groups == 0 ? enqueue_pending() : ncclSuccess;
}
