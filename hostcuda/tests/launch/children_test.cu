// Tests kernels that launch kernels.
#include <cooperative_groups.h>

#include <algorithm>
#include <thread>

#include "support.h"

namespace {

// Appends `mark` to a list whose first element is its length.
__device__ void append(int* list, int mark) { list[atomicAdd(list, 1) + 1] = mark; }
__global__ void mark_child(int* list, int mark) {
  if (threadIdx.x == 0) append(list, mark);
}

class ChildrenTest : public testing::Test {
 protected:
  // Returns the marks in the order in which they were appended.
  std::vector<int> marks() const {
    std::vector<int> all = list_.get();
    EXPECT_LE(all[0], 100);
    return {all.begin() + 1, all.begin() + 1 + std::min(all[0], 100)};
  }
  std::vector<int> sorted_marks() const {
    std::vector<int> all = marks();
    std::sort(all.begin(), all.end());
    return all;
  }
  int place_of(int mark) const {
    const std::vector<int> all = marks();
    return static_cast<int>(std::find(all.begin(), all.end(), mark) - all.begin());
  }
  DeviceArray<int> list_{101, 0};
};

__global__ void tree(int* sum, int depth) {
  __shared__ int mine;  // the children have the same variable, so they must not begin too early
  if (threadIdx.x == 0) mine = depth;
  __syncthreads();
  if (depth < 3) tree<<<2, 2>>>(sum, depth + 1);
  __syncthreads();
  atomicAdd(sum + mine, 1);
}

TEST_F(ChildrenTest, RecursionCompletesBeforeTheHostGoesOn) {
  tree<<<1, 2>>>(list_, 0);
  EXPECT_CUDA(cudaDeviceSynchronize());
  const std::vector<int> sums = list_.get();
  EXPECT_EQ(2, sums[0]);
  EXPECT_EQ(2 * 4, sums[1]);
  EXPECT_EQ(2 * 4 * 4, sums[2]);
  EXPECT_EQ(2 * 4 * 4 * 4, sums[3]);
}

__global__ void launch_into_one_stream(int* list) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int i = 0; i < 20; ++i) mark_child<<<1, 32, 0, stream>>>(list, i);
  cudaStreamDestroy(stream);
  append(list, -1);  // the parent's thread goes on
}

TEST_F(ChildrenTest, OneStreamKeepsItsOrder) {
  launch_into_one_stream<<<1, 1>>>(list_);
  std::vector<int> expected{-1};
  for (int i = 0; i < 20; ++i) expected.push_back(i);
  EXPECT_EQ(expected, marks());
}

__global__ void launch_by_all_threads(int* list) {
  mark_child<<<1, 1>>>(list, static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x));
}

TEST_F(ChildrenTest, TheThreadsOfABlockShareAStream) {
  launch_by_all_threads<<<3, 16>>>(list_);
  std::vector<int> expected;
  for (int i = 0; i < 48; ++i) expected.push_back(i);
  EXPECT_EQ(expected, sorted_marks());
}

__global__ void launch_into_two_streams(int* list) {
  cudaStream_t first, second;
  cudaEvent_t event;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  mark_child<<<1, 1, 0, first>>>(list, 1);
  mark_child<<<1, 1, 0, first>>>(list, 2);
  cudaEventRecord(event, first);
  mark_child<<<1, 1, 0, second>>>(list, 10);
  cudaStreamWaitEvent(second, event, 0);
  mark_child<<<1, 1, 0, second>>>(list, 11);
  cudaEventDestroy(event);
}

TEST_F(ChildrenTest, EventsOrderStreams) {
  launch_into_two_streams<<<1, 1>>>(list_);
  EXPECT_EQ((std::vector<int>{1, 2, 10, 11}), sorted_marks());
  EXPECT_LT(place_of(1), place_of(2));
  EXPECT_LT(place_of(10), place_of(11));
  EXPECT_LT(place_of(2), place_of(11));
  if (environment_is("HOSTCUDA_ORDER", "reverse")) {
    EXPECT_EQ(0, place_of(10));  // nothing orders 10 and 1
  }
}

__global__ void launch_tail(int* list, int left) {
  if (left > 0) launch_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(list, left - 1);
  mark_child<<<1, 1, 0, cudaStreamTailLaunch>>>(list, 100 + left);
  mark_child<<<1, 1, 0, cudaStreamFireAndForget>>>(list, left);
}

TEST_F(ChildrenTest, TheTailWaitsForAllOtherChildren) {
  launch_tail<<<1, 1>>>(list_, 2);
  EXPECT_EQ((std::vector<int>{2, 1, 0, 100, 101, 102}), marks());
}

__global__ void loop_by_tail(int* rounds, int left) {
  ++*rounds;
  if (left > 1) loop_by_tail<<<1, 1, 0, cudaStreamTailLaunch>>>(rounds, left - 1);
}

TEST_F(ChildrenTest, ALongLoopOfTails) {
  loop_by_tail<<<1, 1>>>(list_, 5000);
  EXPECT_EQ(5000, list_.get()[0]);
}

__global__ void allocate_in_kernel(int** memory, int* errors) {
  errors[0] = cudaMalloc(memory, 8 * sizeof(int));
  cudaMemsetAsync(*memory, 1, 4 * sizeof(int), nullptr);
  cudaMemcpyAsync(*memory + 4, *memory, 4 * sizeof(int), cudaMemcpyDeviceToDevice, nullptr);
}
__global__ void use_and_free(int** memory, int* sum) {
  for (int i = 0; i < 8; ++i) *sum += (*memory)[i] == 0x01010101;
  cudaFree(*memory);
}

TEST_F(ChildrenTest, KernelsAllocateFillAndCopy) {
  DeviceArray<int*> memory(1);
  DeviceArray<int> errors(1, -1);
  allocate_in_kernel<<<1, 1>>>(memory, errors);
  use_and_free<<<1, 1>>>(memory, list_);
  EXPECT_EQ(cudaSuccess, errors.get()[0]);
  EXPECT_EQ(8, list_.get()[0]);
}

__global__ void free_given(int* given, int* errors) {
  errors[0] = cudaFree(given);
  errors[1] = cudaGetLastError();
  int own = 0;
  errors[2] = cudaFree(&own);
  void* const from_malloc = malloc(8);
  errors[3] = cudaFree(from_malloc);
  errors[4] = cudaFree(nullptr);
}

TEST_F(ChildrenTest, KernelsDoNotFreeTheHostsMemory) {
  const DeviceArray<int> given(1, 7);
  free_given<<<1, 1>>>(given, list_);
  const std::vector<int> errors = list_.get();
  EXPECT_EQ(cudaErrorInvalidValue, errors[0]);
  EXPECT_EQ(cudaErrorInvalidValue, errors[1]);
  EXPECT_EQ(cudaErrorInvalidValue, errors[2]);
  EXPECT_EQ(cudaSuccess, errors[3]);
  EXPECT_EQ(cudaSuccess, errors[4]);
  EXPECT_EQ(7, given.get()[0]);
}

__global__ void use_boxes(char* from, char* to, int* errors) {
  const cudaExtent box = make_cudaExtent(4, 3, 2);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(from, 8, 4, 3);
  copy.dstPtr = make_cudaPitchedPtr(to, 4, 4, 3);
  copy.extent = box;
  copy.kind = cudaMemcpyDeviceToDevice;
  errors[0] = cudaMemset3DAsync(copy.srcPtr, 5, box, nullptr);
  errors[1] = cudaMemcpy3DAsync(&copy, nullptr);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  errors[2] = cudaEventRecordWithFlags(event, nullptr, cudaEventRecordDefault);
  cudaSharedMemConfig banks;
  errors[3] = cudaDeviceGetSharedMemConfig(&banks);
  int blocks = 0, threads = 0;
  errors[4] = cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, use_and_free);
}

TEST_F(ChildrenTest, KernelsUseBoxesAndQueries) {
  const DeviceArray<char> from(48, 0), to(24, 0);
  use_boxes<<<1, 1>>>(from, to, list_);
  EXPECT_EQ(std::vector<char>(24, 5), to.get());
  EXPECT_EQ(0, from.get()[4]);
  EXPECT_EQ(std::vector<int>(101, cudaSuccess), list_.get());
}

__global__ void make_errors(int* errors) {
  const int me = 8 * static_cast<int>(threadIdx.x);
  mark_child<<<1, 2048>>>(errors, 0);
  errors[me] = cudaPeekAtLastError();
  errors[me + 1] = cudaGetLastError();
  errors[me + 2] = cudaGetLastError();
  mark_child<<<1, 1, 1 << 20>>>(errors, 0);
  errors[me + 3] = cudaGetLastError();
  cudaStream_t stream;
  errors[me + 4] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  mark_child<<<1, 1, 0, reinterpret_cast<cudaStream_t>(64)>>>(errors, 0);
  if (threadIdx.x == 0) errors[5] = cudaGetLastError();
  __syncthreads();
  errors[me + 6] = cudaGetLastError();  // each thread has its own error
  int device = -1;
  cudaGetDevice(&device);
  errors[me + 7] = device;
}

TEST_F(ChildrenTest, ErrorsOfAThread) {
  make_errors<<<1, 2>>>(list_);
  const std::vector<int> errors = list_.get();
  for (int thread = 0; thread < 2; ++thread) {
    EXPECT_EQ(cudaErrorInvalidConfiguration, errors[8 * thread]);
    EXPECT_EQ(cudaErrorInvalidConfiguration, errors[8 * thread + 1]);
    EXPECT_EQ(cudaSuccess, errors[8 * thread + 2]);
    EXPECT_EQ(cudaErrorInvalidValue, errors[8 * thread + 3]);
    EXPECT_EQ(cudaErrorInvalidValue, errors[8 * thread + 4]);
    EXPECT_EQ(0, errors[8 * thread + 7]);
  }
  EXPECT_EQ(cudaErrorInvalidResourceHandle, errors[5]);
  EXPECT_EQ(cudaSuccess, errors[6]);
  EXPECT_EQ(cudaErrorInvalidResourceHandle, errors[8 + 6]);
  EXPECT_CUDA(cudaGetLastError());
}

__global__ void go_deeper(int* out, int depth) {
  out[0] = depth;
  go_deeper<<<1, 1>>>(out, depth + 1);
  if (const cudaError_t error = cudaGetLastError()) out[1] = error;
}

TEST_F(ChildrenTest, DepthIsLimited) {
  go_deeper<<<1, 1>>>(list_, 0);
  EXPECT_EQ(24, list_.get()[0]);
  EXPECT_EQ(cudaErrorLaunchMaxDepthExceeded, list_.get()[1]);
}

__global__ void count_child(int* count) { atomicAdd(count, 1); }
__global__ void launch_often(int* count) {
  for (int i = 0; i < 20; ++i) count_child<<<1, 1>>>(count);
  if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded) atomicAdd(count + 1, 1);
}

TEST_F(ChildrenTest, PendingLaunchesAreLimited) {
  std::size_t before = 0;
  EXPECT_CUDA(cudaDeviceGetLimit(&before, cudaLimitDevRuntimePendingLaunchCount));
  EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 5));
  for (int i = 0; i < 2; ++i) {
    launch_often<<<1, 1>>>(list_);
    EXPECT_CUDA(cudaDeviceSynchronize());
  }
  EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, before));
  EXPECT_EQ(10, list_.get()[0]);
  EXPECT_EQ(2, list_.get()[1]);
}

struct Copied {
  explicit Copied(int value) : value(value) {}
  Copied(const Copied& other) : value(other.value + 100) {}  // a GPU copies only the bytes
  int value;
};
template <class T>
__global__ void take(T argument, int* out) {
  *out += argument.value;
}
__global__ void add_seven(int* out, int more = 7) { *out += more; }
__global__ void pass(int* out) {
  take<Copied><<<1, 1>>>(Copied(1), out);
  add_seven<<<1, 1>>>(out);
}

TEST_F(ChildrenTest, ArgumentsAreCopied) {
  pass<<<1, 1>>>(list_);
  EXPECT_EQ(8, list_.get()[0]);
}

struct Counted {
  __device__ explicit Counted(int* counts) : counts(counts) { atomicAdd(counts, 1); }
  __device__ Counted(const Counted& other) : counts(other.counts) { atomicAdd(counts, 1); }
  __device__ ~Counted() { atomicSub(counts, 1); }
  int* counts;  // the number of objects, and how often a kernel used one
};
__global__ void take_counted(Counted argument) { atomicAdd(argument.counts + 1, 1); }
__global__ void take_counted(Counted argument, int more) { atomicAdd(argument.counts + 1, more); }
__global__ void take_one(Counted argument) { atomicAdd(argument.counts + 1, 1); }
__global__ void pass_counted(int* counts) {
  take_counted<<<1, 2>>>(Counted(counts));
  take_counted<<<1, 2>>>(Counted(counts), 10);
  take_one<<<1, 2>>>(Counted(counts));
}

TEST_F(ChildrenTest, ArgumentsAreDestroyedOnce) {
  pass_counted<<<1, 1>>>(list_);
  EXPECT_EQ(0, list_.get()[0]);
  EXPECT_EQ(24, list_.get()[1]);
}

__global__ void launch_from_grid(int* list) {
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0) mark_child<<<1, 1>>>(list, static_cast<int>(blockIdx.x));
  cooperative_groups::this_grid().sync();
}

TEST_F(ChildrenTest, ACooperativeGridLaunches) {
  int* list = list_;
  void* arguments[] = {&list};
  EXPECT_CUDA(cudaLaunchCooperativeKernel(launch_from_grid, 3, 8, arguments));
  EXPECT_EQ((std::vector<int>{0, 1, 2}), sorted_marks());
}

__global__ void launch_often_from_grid(int* count) {
  if (threadIdx.x == 0)
    for (int i = 0; i < 4; ++i) count_child<<<1, 1>>>(count);
  cooperative_groups::this_grid().sync();
  if (cudaGetLastError()) atomicAdd(count + 1, 1);
}

TEST_F(ChildrenTest, PendingLaunchesCountPerBlock) {
  std::size_t before = 0;
  EXPECT_CUDA(cudaDeviceGetLimit(&before, cudaLimitDevRuntimePendingLaunchCount));
  EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 5));
  int* list = list_;
  void* arguments[] = {&list};
  EXPECT_CUDA(cudaLaunchCooperativeKernel(launch_often_from_grid, 3, 2, arguments));
  EXPECT_CUDA(cudaDeviceSynchronize());
  EXPECT_CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, before));
  EXPECT_EQ(12, list_.get()[0]);
  EXPECT_EQ(0, list_.get()[1]);
}

__global__ void take_turns(int* list, cudaStream_t* stream) {
  const auto grid = cooperative_groups::this_grid();
  if (grid.thread_rank() == 0) cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  for (unsigned turn = 0; turn < 12; ++turn) {
    grid.sync();
    if (turn % gridDim.x == blockIdx.x && threadIdx.x == 0)
      mark_child<<<1, 1, 0, *stream>>>(list, static_cast<int>(turn));
  }
}

TEST_F(ChildrenTest, BlocksOfAGridShareAStream) {
  DeviceArray<cudaStream_t> stream(1);
  int* list = list_;
  cudaStream_t* of_grid = stream;
  void* arguments[] = {&list, &of_grid};
  EXPECT_CUDA(cudaLaunchCooperativeKernel(take_turns, 3, 2, arguments));
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), marks());
}

__global__ void mark_blocks(int* list) { append(list, static_cast<int>(blockIdx.x)); }
__global__ void launch_two_tails(int* list) {
  for (int i = 0; i < 2; ++i) mark_blocks<<<16, 1, 0, cudaStreamTailLaunch>>>(list);
}

TEST_F(ChildrenTest, EachTailHasItsOwnOrderOfBlocks) {
  launch_two_tails<<<1, 1>>>(list_);
  const std::vector<int> all = marks();
  ASSERT_EQ(32u, all.size());
  if (environment_is("HOSTCUDA_ORDER", "random")) {
    EXPECT_FALSE(std::equal(all.begin(), all.begin() + 16, all.begin() + 16));
  }
}

__global__ void parents(int* sum) { count_child<<<2, 8>>>(sum); }

TEST_F(ChildrenTest, TwoHostThreads) {
  const auto work = [this] {
    const Stream stream(cudaStreamNonBlocking);
    for (int i = 0; i < 20; ++i) parents<<<16, 4, 0, stream>>>(list_);
    EXPECT_CUDA(cudaStreamSynchronize(stream));
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(2 * 20 * 16 * 4 * 16, list_.get()[0]);
}

TEST_F(ChildrenTest, GraphsRunChildrenInEachLaunch) {
  const Stream stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  parents<<<1, 1, 0, stream>>>(list_);
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
  EXPECT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) EXPECT_CUDA(cudaGraphLaunch(exec, stream));
  EXPECT_CUDA(cudaStreamSynchronize(stream));
  EXPECT_EQ(3 * 16, list_.get()[0]);
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(graph));
}

}  // namespace
