// Tests hostcuda's NCCL between processes. Without arguments, the program starts itself as several
// ranks; with arguments, it is one rank. It prints errors, and exits with code 0 if there are none.
#include <nccl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

int wrong = 0;
#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
      ++wrong;                                                                   \
    }                                                                            \
  } while (0)

constexpr int kCount = 70001;  // more than a socket can buffer

__global__ void fill(int* data, int count, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = value + i;
}

struct Memory {
  int* data = nullptr;
  explicit Memory(int count) { cudaMalloc(&data, count * sizeof(int)); }
  ~Memory() { cudaFree(data); }
  void set(int first, int count, int value) {
    fill<<<(count - 1) / 256 + 1, 256>>>(data + first, count, value);
  }
  std::vector<int> get(int count) const {
    std::vector<int> host(count);
    cudaMemcpy(host.data(), data, count * sizeof(int), cudaMemcpyDeviceToHost);
    return host;
  }
};

void all_gather(ncclComm_t comm, int rank, int ranks) {
  Memory all(kCount * ranks);
  all.set(rank * kCount, kCount, 1000 * rank);  // runs a kernel first, in the same stream
  EXPECT(ncclAllGather(all.data + rank * kCount, all.data, kCount, ncclInt32, comm, nullptr) ==
         ncclSuccess);
  const std::vector<int> got = all.get(kCount * ranks);
  for (int r = 0; r < ranks; ++r) {
    EXPECT(got[r * kCount] == 1000 * r);
    EXPECT(got[r * kCount + kCount - 1] == 1000 * r + kCount - 1);
  }
}

void reductions(ncclComm_t comm, int rank, int ranks) {
  Memory mine(kCount * ranks), result(kCount * ranks);
  mine.set(0, kCount * ranks, rank);
  const int sum_of_ranks = ranks * (ranks - 1) / 2;
  EXPECT(ncclAllReduce(mine.data, result.data, kCount, ncclInt32, ncclSum, comm, nullptr) ==
         ncclSuccess);
  EXPECT(result.get(kCount)[kCount - 1] == ranks * (kCount - 1) + sum_of_ranks);
  EXPECT(ncclReduceScatter(mine.data, result.data, kCount, ncclInt32, ncclMax, comm, nullptr) ==
         ncclSuccess);
  EXPECT(result.get(1)[0] == rank * kCount + ranks - 1);
  result.set(0, 1, -1);
  EXPECT(ncclReduce(mine.data, result.data, 1, ncclInt32, ncclProd, ranks - 1, comm, nullptr) ==
         ncclSuccess);
  EXPECT(result.get(1)[0] == (rank == ranks - 1 ? 0 : -1));
  EXPECT(ncclBroadcast(mine.data + 1, result.data, 1, ncclInt32, ranks - 1, comm, nullptr) ==
         ncclSuccess);
  EXPECT(result.get(1)[0] == ranks);
  // In place.
  EXPECT(ncclAllReduce(mine.data, mine.data, 2, ncclInt32, ncclMin, comm, nullptr) == ncclSuccess);
  EXPECT(mine.get(2)[1] == 1);
}

// Every rank sends two messages of different sizes to every rank, itself included.
void groups(ncclComm_t comm, int rank, int ranks) {
  Memory sent(kCount), received(2 * kCount * ranks);
  sent.set(0, kCount, rank);
  EXPECT(ncclGroupStart() == ncclSuccess);
  for (int peer = 0; peer < ranks; ++peer) {
    int* const place = received.data + 2 * kCount * peer;
    EXPECT(ncclSend(sent.data, kCount, ncclInt32, peer, comm, nullptr) == ncclSuccess);
    EXPECT(ncclSend(sent.data + 1, 5, ncclInt32, peer, comm, nullptr) == ncclSuccess);
    EXPECT(ncclRecv(place, kCount, ncclInt32, peer, comm, nullptr) == ncclSuccess);
    EXPECT(ncclRecv(place + kCount, 5, ncclInt32, peer, comm, nullptr) == ncclSuccess);
  }
  EXPECT(ncclGroupEnd() == ncclSuccess);
  const std::vector<int> got = received.get(2 * kCount * ranks);
  for (int peer = 0; peer < ranks; ++peer) {
    EXPECT(got[2 * kCount * peer] == peer);
    EXPECT(got[2 * kCount * peer + kCount + 4] == peer + 5);
  }
}

void refusals(ncclComm_t comm, int ranks) {
  int count = 0;
  EXPECT(ncclCommCount(comm, &count) == ncclSuccess && count == ranks);
  Memory some(1);
  EXPECT(ncclSend(some.data, 1, ncclInt32, ranks, comm, nullptr) == ncclInvalidArgument);
  EXPECT(ncclSend(some.data, 1, ncclInt32, 0, nullptr, nullptr) == ncclInvalidArgument);
  EXPECT(ncclGroupEnd() == ncclInvalidUsage);
}

// The last rank dies. The other ranks wait, learn the reason, and continue after ncclCommAbort.
void lost_rank(ncclComm_t comm, int rank, int ranks) {
  if (rank == ranks - 1) raise(SIGKILL);
  std::atomic<ncclResult_t> error = ncclSuccess;
  std::thread watchdog([&] {
    for (ncclResult_t now = ncclSuccess; error == ncclSuccess; error = now) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      ncclCommGetAsyncError(comm, &now);
    }
    ncclCommAbort(comm);
  });
  Memory all(ranks);
  ncclAllGather(all.data + rank, all.data, 1, ncclInt32, comm, nullptr);
  cudaDeviceSynchronize();
  watchdog.join();
  EXPECT(error == ncclRemoteError);
}

int be_rank(int rank, int ranks, const char* name) {
  ncclUniqueId id{};
  std::strncpy(id.internal, name, sizeof id.internal - 1);
  ncclComm_t comm = nullptr;
  EXPECT(ncclCommInitRank(&comm, ranks, id, rank) == ncclSuccess);
  all_gather(comm, rank, ranks);
  reductions(comm, rank, ranks);
  groups(comm, rank, ranks);
  refusals(comm, ranks);
  if (ranks > 1)
    lost_rank(comm, rank, ranks);
  else
    EXPECT(ncclCommDestroy(comm) == ncclSuccess);
  return wrong > 0;
}

int start_ranks(int ranks) {
  ncclUniqueId id{};
  EXPECT(ncclGetUniqueId(&id) == ncclSuccess);
  std::vector<pid_t> processes(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    std::string words[] = {"nccl_ranks", std::to_string(rank), std::to_string(ranks), id.internal};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                         nullptr};
    EXPECT(posix_spawn(&processes[rank], "/proc/self/exe", nullptr, nullptr, arguments, environ) ==
           0);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 0;
    waitpid(processes[rank], &status, 0);
    const bool dies = ranks > 1 && rank == ranks - 1;
    EXPECT(dies ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) return be_rank(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]);
  for (const int ranks : {1, 2, 5}) start_ranks(ranks);
  return wrong > 0;
}
