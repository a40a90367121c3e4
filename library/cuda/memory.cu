// The memory pool of each device, and the stream and the memory of each call.
#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "library/call.h"
#include "library/cuda/failure.h"
#include "library/cuda/mailbox.h"
#include "library/cuda/memory.h"

namespace nbody {

// CUDA_CHECK calls this function if a CUDA call fails. It throws an exception, and the library's
// function then returns a result code.
void cuda_failed(const char* error, const char*, const char*, const char*, int) {
  const auto is = [error](const char* name) { return std::strcmp(error, name) == 0; };
  (void)cudaGetLastError();
  if (is("cudaErrorMemoryAllocation")) throw std::bad_alloc();
  const bool missing = is("cudaErrorNoDevice") || is("cudaErrorInsufficientDriver") ||
                       is("cudaErrorNoKernelImageForDevice") || is("cudaErrorInitializationError");
  throw library::CudaFailure{missing ? NBODY_NO_DEVICE : NBODY_CUDA_FAILED};
}

namespace library {
namespace {

// If a call needs more memory than this, its kernels take so long that the time for its allocations
// does not matter.
constexpr std::size_t kMostAtOnce = std::size_t{2} << 30;

thread_local InCall* call_of_thread = nullptr;

#ifndef __HOSTCUDA__
// A pool keeps the memory that is returned to it. The default pool would give this memory back to
// the system whenever the device is idle, and allocating it again costs a tenth of a millisecond.
struct Pools {
  static constexpr int kDevices = 64;
  std::mutex mutex;
  std::array<cudaMemPool_t, kDevices> of_device = {};

  cudaError_t of_current(cudaMemPool_t& pool) {
    int device = 0;
    if (const cudaError_t failed = cudaGetDevice(&device)) return failed;
    if (device >= kDevices) return cudaErrorInvalidDevice;
    const std::lock_guard lock(mutex);
    pool = of_device[static_cast<std::size_t>(device)];
    if (pool != nullptr) return cudaSuccess;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    if (const cudaError_t failed = cudaMemPoolCreate(&pool, &properties)) return failed;
    unsigned long long kept = ~0ull;
    of_device[static_cast<std::size_t>(device)] = pool;
    return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
  }
  void release() {
    const std::lock_guard lock(mutex);
    for (const cudaMemPool_t pool : of_device)
      if (pool != nullptr) (void)cudaMemPoolTrimTo(pool, 0);
  }
};
Pools& pools() {
  static Pools pools;
  return pools;
}
#endif

cudaError_t take_from_pool(void** memory, std::size_t bytes, cudaStream_t stream) {
#ifdef __HOSTCUDA__
  return cudaMallocAsync(memory, bytes, stream);
#else
  cudaMemPool_t pool = nullptr;
  if (const cudaError_t failed = pools().of_current(pool)) return failed;
  return cudaMallocFromPoolAsync(memory, bytes, pool, stream);
#endif
}

}  // namespace

cudaError_t take_memory(void** memory, std::size_t bytes) {
  if (call_of_thread == nullptr) return take_from_pool(memory, bytes, nullptr);
  InCall& call = *call_of_thread;
  const std::size_t begin = call.taken_;
  call.taken_ += (bytes + 255) / 256 * 256;  // as cudaMalloc aligns
  if (call.taken_ > call.size_) return take_from_pool(memory, bytes, call.stream_);
  *memory = call.block_ + begin;
  return cudaSuccess;
}

cudaError_t return_memory(void* memory) {
  const InCall* const call = call_of_thread;
  if (call != nullptr && call->holds(memory)) return cudaSuccess;
  return cudaFreeAsync(memory, call != nullptr ? call->stream_ : nullptr);
}

InCall::InCall(cudaStream_t stream, std::size_t expected_bytes)
    : before_(call_of_thread), stream_(stream) {
  call_of_thread = this;
  if (expected_bytes == 0 || expected_bytes > kMostAtOnce) return;
  void* block = nullptr;
  if (take_from_pool(&block, expected_bytes, stream) == cudaSuccess) {
    block_ = static_cast<char*>(block), size_ = expected_bytes;
  } else {
    (void)cudaGetLastError();  // each array then gets its own allocation
  }
}
InCall::~InCall() {
  call_of_thread = before_;
  if (block_ != nullptr) (void)cudaFreeAsync(block_, stream_);
}

void release_cuda_memory() {
  release_mailboxes();
#ifndef __HOSTCUDA__
  pools().release();
#endif
}

void* take_cuda_result(std::size_t bytes) {
  void* memory = nullptr;
  return take_memory(&memory, bytes) == cudaSuccess ? memory : nullptr;
}
// Waits first, because kernels in any stream may still be using the array.
void return_cuda_result(void* memory) {
  (void)cudaDeviceSynchronize();
  (void)return_memory(memory);
}
bool wait_for_cuda(void* stream) {
  return cudaStreamSynchronize(static_cast<cudaStream_t>(stream)) == cudaSuccess;
}

}  // namespace library
}  // namespace nbody
