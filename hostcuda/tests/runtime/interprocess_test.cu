// Tests memory and events that two processes share.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support.h"

namespace {

// A handle for memory is refused in programs with AddressSanitizer.
bool can_share() {
  DeviceArray<int> memory(8, 1);
  cudaIpcMemHandle_t handle;
  const bool answer = cudaIpcGetMemHandle(&handle, memory) != cudaErrorNotSupported;
  cudaGetLastError();
  return answer;
}

__global__ void add_ten(int* values) { values[threadIdx.x] += 10; }

// Runs in a second process, and returns the number of the first call that fails, or 0.
int change_memory(const cudaIpcMemHandle_t& of_memory, const cudaIpcEventHandle_t& of_event) {
  void* memory = nullptr;
  cudaEvent_t event;
  if (cudaIpcOpenMemHandle(&memory, of_memory, cudaIpcMemLazyEnablePeerAccess)) return 1;
  if (cudaIpcOpenEventHandle(&event, of_event)) return 2;
  add_ten<<<1, 8>>>(static_cast<int*>(memory));
  if (cudaEventRecord(event)) return 3;
  if (cudaDeviceSynchronize()) return 4;
  if (cudaFree(memory) != cudaErrorInvalidValue) return 5;
  if (cudaIpcCloseMemHandle(memory)) return 6;
  if (cudaEventDestroy(event)) return 7;
  return cudaIpcCloseMemHandle(memory) == cudaErrorInvalidValue ? 0 : 8;
}

TEST(Interprocess, AnotherProcessWritesToMemory) {
  if (!can_share()) GTEST_SKIP();
  DeviceArray<int> memory(8, 1), other(8, 5);
  const Stream stream;
  cudaEvent_t event;
  EXPECT_EQ(cudaErrorInvalidValue, cudaEventCreateWithFlags(&event, cudaEventInterprocess));
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcMemHandle_t of_memory, again;
  cudaIpcEventHandle_t of_event;
  EXPECT_CUDA(cudaIpcGetMemHandle(&of_memory, memory));
  EXPECT_CUDA(cudaIpcGetMemHandle(&again, memory));
  EXPECT_EQ(0, memcmp(&of_memory, &again, sizeof again));
  EXPECT_CUDA(cudaIpcGetEventHandle(&of_event, event));
  EXPECT_EQ(std::vector<int>(8, 1), memory.get());  // sharing keeps the content
  const pid_t child = fork();
  if (child == 0) _exit(change_memory(of_memory, of_event));
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, WEXITSTATUS(status));
  EXPECT_CUDA(cudaStreamWaitEvent(stream, event));
  add_ten<<<1, 8, 0, stream>>>(memory);
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_CUDA(cudaEventQuery(event));
  EXPECT_EQ(std::vector<int>(8, 21), memory.get());
  EXPECT_EQ(std::vector<int>(8, 5), other.get());
  EXPECT_CUDA(cudaEventDestroy(event));
}

// The event is recorded only after the first process has begun to wait.
TEST(Interprocess, AStreamWaitsForAnotherProcess) {
  if (!can_share()) GTEST_SKIP();
  DeviceArray<int> memory(8, 1);
  cudaEvent_t event;
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcMemHandle_t of_memory;
  cudaIpcEventHandle_t of_event;
  EXPECT_CUDA(cudaIpcGetMemHandle(&of_memory, memory));
  EXPECT_CUDA(cudaIpcGetEventHandle(&of_event, event));
  int ready[2];
  ASSERT_EQ(0, pipe(ready));
  const pid_t child = fork();
  if (child == 0) {
    cudaEvent_t opened;
    void* shared = nullptr;
    bool good =
        !cudaIpcOpenEventHandle(&opened, of_event) && !cudaIpcOpenMemHandle(&shared, of_memory, 0);
    const Stream late(cudaStreamNonBlocking);
    // The operations run later than cudaEventRecord, which counts the recording.
    const auto wait = [](void*) { usleep(100000); };
    if (streams_are_lazy()) good = good && !cudaLaunchHostFunc(late, wait, nullptr);
    add_ten<<<1, 8, 0, late>>>(static_cast<int*>(shared));
    good = good && !cudaEventRecord(opened, late) && write(ready[1], "", 1) == 1;
    good = good && !cudaStreamSynchronize(late);
    _exit(good ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(1, read(ready[0], &byte, 1));
  EXPECT_CUDA(cudaStreamWaitEvent(nullptr, event));
  EXPECT_CUDA(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(std::vector<int>(8, 11), memory.get());
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, WEXITSTATUS(status));
  EXPECT_CUDA(cudaEventDestroy(event));
}

TEST(Interprocess, WrongHandles) {
  if (!can_share()) GTEST_SKIP();
  DeviceArray<int> memory(8, 1);
  const Event event;
  cudaIpcMemHandle_t of_memory, wrong = {};
  cudaIpcEventHandle_t of_event;
  void* opened = nullptr;
  EXPECT_CUDA(cudaIpcGetMemHandle(&of_memory, memory));
  EXPECT_EQ(cudaErrorDeviceUninitialized, cudaIpcOpenMemHandle(&opened, of_memory, 0));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaIpcOpenMemHandle(&opened, wrong, 0));
  EXPECT_EQ(cudaErrorInvalidValue, cudaIpcGetMemHandle(&of_memory, &opened));
  EXPECT_EQ(cudaErrorInvalidResourceHandle, cudaIpcGetEventHandle(&of_event, event));
  cudaGetLastError();
}

// The files of this process that are open, or that are mapped into memory.
int open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<int>(std::distance(begin(files), end(files)));
}
int mapped_files() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("/memfd:hostcuda") != std::string::npos;
  return count;
}

TEST(Interprocess, FreedMemoryIsNoLongerShared) {
  if (!can_share()) GTEST_SKIP();
  const int open = open_files(), mapped = mapped_files();
  DeviceArray<int> neighbour(8, 4);
  for (int i = 0; i < 3; ++i) {
    DeviceArray<int> memory(8, 1);
    cudaIpcMemHandle_t handle;
    EXPECT_CUDA(cudaIpcGetMemHandle(&handle, memory));
    EXPECT_EQ(open + 1, open_files());
    EXPECT_EQ(mapped + 1, mapped_files());
  }
  EXPECT_EQ(open, open_files());
  EXPECT_EQ(mapped, mapped_files());
  EXPECT_EQ(std::vector<int>(8, 4), neighbour.get());
}

cudaMemPool_t shareable_pool() {
  cudaMemPoolProps wanted{};
  wanted.allocType = cudaMemAllocationTypePinned;
  wanted.location = {cudaMemLocationTypeDevice, 0};
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  cudaMemPool_t pool = nullptr;
  EXPECT_CUDA(cudaMemPoolCreate(&pool, &wanted));
  return pool;
}

TEST(Interprocess, ASharedPoolUsesFreedAddressesAgain) {
  const cudaMemPool_t pool = shareable_pool();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char *first = nullptr, *second = nullptr, *third = nullptr, *again = nullptr;
  for (char** memory : {&first, &second, &third})
    EXPECT_CUDA(cudaMallocFromPoolAsync(memory, page, pool, nullptr));
  EXPECT_CUDA(cudaFree(second));
  EXPECT_CUDA(cudaFree(first));
  EXPECT_CUDA(cudaMallocFromPoolAsync(&again, 2 * page, pool, nullptr));
  EXPECT_EQ(first, again);  // the two freed ranges are one
  EXPECT_CUDA(cudaFree(again));
  EXPECT_CUDA(cudaFree(third));
  EXPECT_CUDA(cudaMemPoolDestroy(pool));
}

TEST(Interprocess, MemoryOutlivesItsSharedPool) {
  const int open = open_files();
  const cudaMemPool_t pool = shareable_pool();
  int* memory = nullptr;
  EXPECT_CUDA(cudaMallocFromPoolAsync(&memory, 8 * sizeof(int), pool, nullptr));
  EXPECT_CUDA(cudaMemsetAsync(memory, 0, 8 * sizeof(int)));
  EXPECT_CUDA(cudaMemPoolDestroy(pool));
  cudaIpcMemHandle_t handle;
  EXPECT_NE(cudaSuccess, cudaIpcGetMemHandle(&handle, memory));  // only for cudaMalloc
  cudaGetLastError();
  add_ten<<<1, 8>>>(memory);
  std::vector<int> values(8);
  EXPECT_CUDA(cudaMemcpy(values.data(), memory, 8 * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::vector<int>(8, 10), values);
  EXPECT_CUDA(cudaFree(memory));
  EXPECT_EQ(open, open_files());
}

}  // namespace
