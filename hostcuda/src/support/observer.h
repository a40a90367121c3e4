// Callbacks for a tool that observes the API, such as ../../trace. By default there is no observer.
#ifndef HOSTCUDA_SRC_SUPPORT_OBSERVER_H
#define HOSTCUDA_SRC_SUPPORT_OBSERVER_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_runtime.h"

namespace hostcuda {

enum class MemoryKind { pageable, pinned, device, managed };

// Counts, for each stream number, the stream's operations that happened before a certain point.
using Clock = std::vector<std::uint64_t>;
void join(Clock& clock, const Clock& other);

class RuntimeObserver {
 public:
  // Returns memory for an allocation, with unowned bytes around it. No address is used twice.
  virtual char* provide(std::size_t size) = 0;
  virtual void allocated(const char* begin, std::size_t size, MemoryKind kind) = 0;
  virtual void released(const char* begin) = 0;
  // The running operation allocates or frees this memory (cudaMallocAsync, cudaFreeAsync).
  virtual void claimed(const char* begin) = 0;
  // A copy or fill is about to run; `from` is null for a fill.
  virtual void copied(const char* to, const char* from, std::size_t size) = 0;
  // Calls that were rejected because `pointer` is not an allocation, or is no longer one, or
  // because the arguments do not fit the memory.
  virtual void free_refused(const void* pointer) = 0;
  virtual void copy_refused(const void* to, const void* from, std::size_t size,
                            cudaMemcpyKind direction) = 0;
  virtual void failed(cudaError_t error) = 0;
  virtual void asked_too_early() = 0;  // host code read a time that may not have been taken yet
  virtual void asked_for_error() = 0;
  virtual void
  host_waits() = 0;  // called if host code waits for, or queries, a stream, event, device or copy

 protected:
  ~RuntimeObserver() = default;
};

extern RuntimeObserver* runtime_observer;

}  // namespace hostcuda

#endif
