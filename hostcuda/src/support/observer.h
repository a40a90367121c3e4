// Callbacks for a tool that observes the API; ../../trace is one. There is none by default.
#ifndef HOSTCUDA_SRC_SUPPORT_OBSERVER_H
#define HOSTCUDA_SRC_SUPPORT_OBSERVER_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_runtime.h"

namespace hostcuda {

enum class MemoryKind { pageable, pinned, device, managed };

// The number of each stream's operations (by stream number) that come before something.
using Clock = std::vector<std::uint64_t>;
void join(Clock& clock, const Clock& other);

class RuntimeObserver {
 public:
  // Memory for an allocation, with unowned bytes around it; no address is used twice.
  virtual char* provide(std::size_t size) = 0;
  virtual void allocated(const char* begin, std::size_t size, MemoryKind kind) = 0;
  virtual void released(const char* begin) = 0;
  // The running operation allocates or frees this memory, in stream order.
  virtual void claimed(const char* begin) = 0;
  // A copy or fill that is about to run; `from` is null for a fill.
  virtual void copied(const char* to, const char* from, std::size_t size) = 0;
  // Rejected calls: `pointer` is not an allocation (any more); the arguments do not fit the memory.
  virtual void free_refused(const void* pointer) = 0;
  virtual void copy_refused(const void* to, const void* from, std::size_t size,
                            cudaMemcpyKind direction) = 0;
  virtual void failed(cudaError_t error) = 0;
  virtual void asked_too_early() = 0;  // read the time of an event that may not have happened yet
  virtual void asked_for_error() = 0;
  virtual void
  host_waits() = 0;  // for a stream, an event, a device or a copy, or queries its completion

 protected:
  ~RuntimeObserver() = default;
};

extern RuntimeObserver* runtime_observer;

}  // namespace hostcuda

#endif
