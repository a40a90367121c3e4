// Typical mistakes in kernels and in the code around them, each with its correction.
//
//   hostcuda_bugs NAME            makes the mistake; hostcuda stops, or the result is wrong
//   hostcuda_bugs NAME corrected  prints "result ok" in every mode
#undef NDEBUG  // the test needs the assertions
#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "buffers.h"
#include "cub_bugs.h"
#include "gang_bugs.h"
#include "missed_bugs.h"

namespace {

bool corrected = false;

__global__ void read_past_shared(float* out, int past) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = 1;
  __syncthreads();
  const float* pointer = values;  // the sanitizer knows the bounds of `values`, not of `pointer`
  // BUG past_shared
  out[threadIdx.x] = pointer[threadIdx.x + past];
}

__global__ void read_past_dynamic(float* out, int past) {
  extern __shared__ float values[];
  values[threadIdx.x] = 1;
  __syncthreads();
  // BUG past_dynamic
  out[threadIdx.x] = values[threadIdx.x + past];
}

__global__ void write_past_global(float* out, int past) {
  // BUG past_global
  out[threadIdx.x + past] = 1;
}

template <bool kCorrect>
__global__ void reverse(float* out) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = threadIdx.x;
  if (kCorrect) __syncthreads();
  // BUG missing_barrier
  out[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

template <bool kCorrect>
__global__ void sum_tiles(const float* in, float* out) {
  __shared__ float tile[kThreads];
  float sum = 0;
  for (int t = 0; t < 4; ++t) {
    tile[threadIdx.x] = in[t * kThreads + threadIdx.x];
    __syncthreads();
    // BUG tile_loop
    for (int k = 0; k < kThreads; ++k) sum += tile[k];
    if (kCorrect) __syncthreads();  // so that no fast thread overwrites unread values
  }
  out[threadIdx.x] = sum;
}

// In each round, each warp stores its index times the round's index, and then every thread adds
// up the values of all warps. If the threads run one after the other, all of them read before any
// of them writes again. The mistake has an effect only if one warp continues into the next round
// before the other warps have read.
template <bool kCorrect>
__global__ void rounds_of_warps(float* out) {
  __shared__ float left[kThreads / 32];
  const int warp = threadIdx.x / 32;
  float sum = 0;
  for (int round = 1; round <= 3; ++round) {
    const float value = __shfl_sync(0xffffffff, static_cast<float>(warp * round), 0);
    // BUG warp_runs_ahead
    if (threadIdx.x % 32 == 0) left[warp] = value;
    __syncthreads();
    for (int other = 0; other < kThreads / 32; ++other) sum += left[other];
    if (kCorrect) __syncthreads();
  }
  out[threadIdx.x] = sum / 36;
}

template <bool kCorrect>
__global__ void different_barriers(float* out) {
  if (kCorrect || threadIdx.x < 40) {
    out[threadIdx.x] = 1;
    // BUG different_barriers
    __syncthreads();
  } else {
    out[threadIdx.x] = 1;
    __syncthreads();
  }
}

template <bool kCorrect>
__global__ void return_before_barrier(float* out, int n) {
  const int i = threadIdx.x;
  out[i] = 1;
  if (!kCorrect && i >= n) return;
  // BUG return_before_barrier
  __syncthreads();
  if (i > 0 && i < n) out[i] *= out[0];
}

template <bool kCorrect>
__global__ void barrier_and_shuffle(float* out) {
  float value = 1;
  if (!kCorrect && threadIdx.x % 32 == 0)
    __syncthreads();
  else
    // BUG barrier_and_shuffle
    value = __shfl_down_sync(0xffffffff, value, 1);
  out[threadIdx.x] = value;
}

template <bool kCorrect>
__global__ void half_initialised(float* out) {
  __shared__ float values[kThreads];
  if (kCorrect || threadIdx.x < kThreads / 2) values[threadIdx.x] = 1;
  __syncthreads();
  // BUG half_initialised
  out[threadIdx.x] = values[threadIdx.x];
}

// The longer the time between the read and the write, the more likely it is that an update is lost.
// On a GPU, that time is always long.
template <bool kCorrect>
__global__ void count_threads(unsigned* counter) {
  const unsigned seen = kCorrect ? 0 : *counter;
  float work = 1.0f + seen;
  for (int i = 0; i < 50; ++i) work = sqrtf(work);
  const unsigned one = work > 0 ? 1 : 0;
  if (kCorrect)
    atomicAdd(counter, one);
  else
    // BUG lost_update
    *counter = seen + one;
}

template <bool kCorrect>
__global__ void shuffle_in_branch(float* out) {
  float value = 1;
  if (kCorrect || threadIdx.x % 32 < 16)
    // BUG shuffle_in_branch
    value = __shfl_down_sync(kCorrect ? ~0u : 0xffffu, value, 8);
  out[threadIdx.x] = value;
}

__global__ void double_values(float* values) { values[threadIdx.x] *= 2; }
__global__ void fill(float* out, float value) {
  // BUG wrong_device use_after_free null_pointer
  out[threadIdx.x] = value;
}

__constant__ float scale;
__global__ void scaled(float* out) {
  // BUG constant_on_one_device
  out[threadIdx.x] = scale;
}

__global__ void calls_the_api(float* out, bool wrong) {
  // BUG api_call_in_kernel
  if (wrong) cudaMemset(out, 0, 4);
  out[threadIdx.x] = 1;
}
__global__ void waits_for_child(float* out, bool wrong) {
  fill<<<1, kThreads>>>(out, 1);
  // BUG kernel_waits_for_child
  if (wrong) cudaDeviceSynchronize();
}
__global__ void __launch_bounds__(64) bounded(float* out) {
  for (int i = threadIdx.x; i < kThreads; i += blockDim.x) out[i] = 1;
}
__global__ void static_and_dynamic(float* out) {
  __shared__ float values[8192];
  extern __shared__ float more[];
  values[threadIdx.x] = more[threadIdx.x] = 1;
  out[threadIdx.x] = values[threadIdx.x];
}
__global__ void asserts(float* out, float limit) {
  // BUG assertion
  assert(threadIdx.x < limit);
  out[threadIdx.x] = 1;
}
__global__ void traps(float* out, bool wrong) {
  // BUG trap
  if (wrong && threadIdx.x == 5) __trap();
  out[threadIdx.x] = 1;
}
#define ASSURE(condition) \
  if (!(condition)) asm("trap;")
__global__ void traps_in_asm(float* out, bool wrong) {
  // BUG trap_in_asm
  ASSURE(!wrong || threadIdx.x != 5);
  out[threadIdx.x] = 1;
}
__global__ void set_one(float* out, const float& one) { out[threadIdx.x] = one; }
void run_reference_to_host(const Buffer& b) {
  float one = 1, *managed;
  cudaMallocManaged(&managed, sizeof *managed);
  *managed = 1;
  // BUG reference_to_host
  set_one<<<1, kThreads>>>(b.data, corrected ? *managed : one);
  cudaDeviceSynchronize();
  cudaFree(managed);
}
__global__ void divides(float* out, int by) {
  // BUG division_by_zero
  out[threadIdx.x] = (7 / by) / 7;
}
// One block writes the last element, which is the flag; the other block writes the other elements.
__global__ void waits_for_the_next_block(volatile float* out, unsigned first) {
  if (blockIdx.x == first)
    // BUG waits_for_the_next_block
    while (out[kThreads - 1] != 1) {
    }
  if (blockIdx.x == 1 ? threadIdx.x == kThreads - 1 : threadIdx.x < kThreads - 1)
    out[threadIdx.x] = 1;
}

int run_missing_barrier(const Buffer& b) {
  corrected ? reverse<true><<<1, kThreads>>>(b.data) : reverse<false><<<1, kThreads>>>(b.data);
  std::vector<float> values = b.get();
  for (int i = 0; i < kThreads; ++i) values[i] -= kThreads - 1 - i;
  return verdict(values, 0);
}

int run_tile_loop(const Buffer& b) {
  Buffer in(4 * kThreads);
  std::vector<float> tiles;
  for (int i = 0; i < 4 * kThreads; ++i) tiles.push_back(static_cast<float>(i / kThreads));
  cudaMemcpy(in.data, tiles.data(), tiles.size() * sizeof(float), cudaMemcpyHostToDevice);
  corrected ? sum_tiles<true><<<1, kThreads>>>(in.data, b.data)
            : sum_tiles<false><<<1, kThreads>>>(in.data, b.data);
  return verdict(b.get(), 6 * kThreads);
}

int run_lost_update() {
  constexpr unsigned kBlocks = 1 << 11;
  unsigned* counter;
  cudaMalloc(&counter, sizeof *counter);
  // Uses several blocks, because blocks run concurrently on several cores. The threads of a single
  // block would not lose updates here.
  for (int attempt = 0; attempt < 10; ++attempt) {
    cudaMemset(counter, 0, sizeof *counter);
    corrected ? count_threads<true><<<kBlocks, kThreads>>>(counter)
              : count_threads<false><<<kBlocks, kThreads>>>(counter);
    unsigned counted = 0;
    cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost);
    if (counted != kBlocks * kThreads) return std::puts("WRONG RESULT: updates are lost"), 1;
  }
  cudaFree(counter);
  return std::puts("result ok"), 0;
}

int run_stream_without_event(const Buffer& b) {
  Pinned host;
  host.set(1);
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t done;
  cudaEventCreate(&done);
  cudaMemcpyAsync(b.data, host.data, Pinned::kBytes, cudaMemcpyHostToDevice, first);
  double_values<<<1, kThreads, 0, first>>>(b.data);
  cudaEventRecord(done, first);
  if (corrected) cudaStreamWaitEvent(second, done, 0);
  // BUG stream_without_event
  cudaMemcpyAsync(host.data, b.data, Pinned::kBytes, cudaMemcpyDeviceToHost, second);
  cudaStreamSynchronize(second);
  return verdict(host.get(), 2);
}

int run_reused_pinned_buffer(const Buffer& b) {
  Pinned host;
  host.set(1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(b.data, host.data, Pinned::kBytes, cudaMemcpyHostToDevice, stream);
  if (corrected) cudaStreamSynchronize(stream);
  host.set(0);  // the copy may not have happened yet
  cudaStreamSynchronize(stream);
  return verdict(b.get(), 1);
}

int run_unfinished_copy(const Buffer& b) {
  Pinned host;
  host.set(0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill<<<1, kThreads, 0, stream>>>(b.data, 1);
  cudaMemcpyAsync(host.data, b.data, Pinned::kBytes, cudaMemcpyDeviceToHost, stream);
  if (corrected) cudaStreamSynchronize(stream);
  return verdict(host.get(), 1);
}

int run_constant_on_one_device() {
  const float value = 1;
  cudaSetDevice(0);
  cudaMemcpyToSymbol(scale, &value, sizeof value);
  cudaSetDevice(1);
  if (corrected) cudaMemcpyToSymbol(scale, &value, sizeof value);
  const Buffer b;
  scaled<<<1, kThreads>>>(b.data);
  return verdict(b.get(), 1);
}

int run_wrong_device(const Buffer& b) {
  if (!corrected) cudaSetDevice(1);
  fill<<<1, kThreads>>>(b.data, 1);
  cudaDeviceSynchronize();
  return verdict(b.get(), 1);
}

int run_use_after_free(const Buffer& b) {
  float* other;
  cudaMalloc(&other, Pinned::kBytes);
  if (!corrected) cudaFree(other);
  fill<<<1, kThreads>>>(other, 1);
  fill<<<1, kThreads>>>(b.data, 1);
  if (corrected) cudaFree(other);
  return verdict(b.get(), 1);
}

int run_bad_configuration(const Buffer& b) {
  fill<<<1, corrected ? kThreads : 2048>>>(b.data, 1);
  const cudaError_t error = cudaGetLastError();
  if (error) return std::printf("launch error: %s\n", cudaGetErrorString(error)), 1;
  return verdict(b.get(), 1);
}

// Checks that the call that waits for a kernel, and all later calls, return the kernel's error.
template <class Launch>
int run_and_ask(const Launch& launch, const Buffer& b) {
  launch();
  const cudaError_t waiting = cudaDeviceSynchronize();
  const cudaError_t later = cudaMemset(b.data, 0, sizeof(float));
  if (waiting || later)
    return std::printf("%s, then %s\n", cudaGetErrorName(waiting), cudaGetErrorName(later)), 1;
  launch();
  return verdict(b.get(), 1);
}

// This is not a mistake; it shows what HOSTCUDA_DEVICES=0 and HOSTCUDA_MEMORY do to a program.
int show_environment() {
  int count = -1;
  const cudaError_t counting = cudaGetDeviceCount(&count);
  void* pointer = nullptr;
  const cudaError_t allocation = cudaMalloc(&pointer, 1000);
  fill<<<1, 1>>>(nullptr, 1.f);
  std::printf("count %d: %s; 1000 bytes: %s; launch: %s\n", count, cudaGetErrorName(counting),
              cudaGetErrorName(allocation), cudaGetErrorName(cudaGetLastError()));
  return 0;
}

// BUG deep_recursion
__device__ float recurse(volatile float* chain, int depth) {
  volatile float frame[256];
  frame[depth % 256] = *chain;
  return depth ? recurse(frame, depth - 1) + frame[depth % 256] : 1;
}
__global__ void deep_recursion(float* out, int depth) {
  volatile float start[256] = {};
  out[threadIdx.x] = recurse(start, depth) > 0 ? 1 : 1;
}

int run(const std::string& bug) {
  if (bug == "show_environment") return show_environment();
  if (is_missed_bug(bug)) return run_missed_bug(bug, corrected);
  if (bug == "lost_update") return run_lost_update();
  if (bug == "constant_on_one_device") return run_constant_on_one_device();
  const Buffer b;
  const int past = corrected ? 0 : 1;
  const auto is = [&](const char* name) { return bug == name; };
#define RUN(kernel, ...)                                           \
  (corrected ? kernel<true><<<1, kThreads>>>(b.data __VA_ARGS__)   \
             : kernel<false><<<1, kThreads>>>(b.data __VA_ARGS__), \
   verdict(b.get(), 1))
  if (is("past_shared"))
    read_past_shared<<<1, kThreads>>>(b.data, past);
  else if (is("past_dynamic"))
    read_past_dynamic<<<1, kThreads, Pinned::kBytes>>>(b.data, past);
  else if (is("past_global"))
    write_past_global<<<1, kThreads>>>(b.data, past);
  else if (is("missing_barrier"))
    return run_missing_barrier(b);
  else if (is("tile_loop"))
    return run_tile_loop(b);
  else if (is("warp_runs_ahead"))
    return RUN(rounds_of_warps);
  else if (is("different_barriers"))
    return RUN(different_barriers);
  else if (is("return_before_barrier"))
    return RUN(return_before_barrier, , kThreads - 28);
  else if (is("barrier_and_shuffle"))
    return RUN(barrier_and_shuffle);
  else if (is("half_initialised"))
    return RUN(half_initialised);
  else if (is("shuffle_in_branch"))
    return RUN(shuffle_in_branch);
  else if (is("host_dereference"))
    // BUG host_dereference
    return verdict({corrected ? 1 : *b.data}, 1);
  else if (is("stream_without_event"))
    return run_stream_without_event(b);
  else if (is("reused_pinned_buffer"))
    return run_reused_pinned_buffer(b);
  else if (is("unfinished_copy"))
    return run_unfinished_copy(b);
  else if (is("wrong_device"))
    return run_wrong_device(b);
  else if (is("use_after_free"))
    return run_use_after_free(b);
  else if (is("bad_configuration"))
    return run_bad_configuration(b);
  else if (is("api_call_in_kernel"))
    calls_the_api<<<1, kThreads>>>(b.data, !corrected);
  else if (is("kernel_waits_for_child"))
    waits_for_child<<<1, 1>>>(b.data, !corrected);
  else if (is("launch_bounds"))
    // BUG launch_bounds
    bounded<<<1, corrected ? 64 : kThreads>>>(b.data);
  else if (is("static_and_dynamic_shared"))
    // BUG static_and_dynamic_shared
    static_and_dynamic<<<1, kThreads, corrected ? 512 : 32 << 10>>>(b.data);
  else if (is("null_pointer"))
    fill<<<1, kThreads>>>(corrected ? b.data : nullptr, 1);
  else if (is("division_by_zero"))
    divides<<<1, kThreads>>>(b.data, corrected ? 1 : 0);
  else if (is("waits_for_the_next_block"))
    waits_for_the_next_block<<<2, kThreads>>>(b.data, corrected ? 2 : 0);
  else if (is("assertion"))
    return run_and_ask([&] { asserts<<<1, kThreads>>>(b.data, corrected ? kThreads : 77); }, b);
  else if (is("trap"))
    return run_and_ask([&] { traps<<<1, kThreads>>>(b.data, !corrected); }, b);
  else if (is("trap_in_asm"))
    return run_and_ask([&] { traps_in_asm<<<1, kThreads>>>(b.data, !corrected); }, b);
  else if (is("reference_to_host"))
    run_reference_to_host(b);
  else if (is("deep_recursion"))
    deep_recursion<<<1, kThreads>>>(b.data, corrected ? 3 : 1 << 20);
  else if (!run_gang_bug(bug, corrected, b.data) && !run_cub_bug(bug, corrected, b.data))
    return std::fprintf(stderr, "no such bug: %s\n", bug.c_str()), 3;
  return verdict(b.get(), 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: hostcuda_bugs NAME [corrected]\n"), 3;
  corrected = argc > 2 && !std::strcmp(argv[2], "corrected");
  return run(argv[1]);
}
