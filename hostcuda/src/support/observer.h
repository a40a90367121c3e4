// Callbacks for a tool that observes the API, such as ../../trace. By default there is no observer.
#ifndef HOSTCUDA_SRC_SUPPORT_OBSERVER_H
#define HOSTCUDA_SRC_SUPPORT_OBSERVER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda_runtime.h"
#include "support/source_line.h"

namespace hostcuda {

enum class MemoryKind { pageable, pinned, device, managed };

// Has an entry for each stream number: how many operations of that stream happened before a certain
// point.
using Clock = std::vector<std::uint64_t>;
void join(Clock& clock, const Clock& other);

class RuntimeObserver {
 public:
  // Returns memory for an allocation, with padding around it. No address is used twice.
  virtual char* provide(std::size_t size) = 0;
  virtual void allocated(const char* begin, std::size_t size, MemoryKind kind) = 0;
  virtual void released(const char* begin) = 0;
  // Called while an operation runs that allocates or frees this memory in stream order
  // (cudaMallocAsync, cudaFreeAsync).
  virtual void claimed(const char* begin) = 0;
  // A copy or fill is about to run; `from` is null for a fill.
  virtual void copied(const char* to, const char* from, std::size_t size) = 0;
  // Called after copied() if the operation is a fill; `value` is the byte that the fill writes.
  virtual void filled(const char* to, int value, std::size_t size) = 0;
  // A copy to or from host memory that the API did not allocate is about to run. Returns the number
  // of bytes that can be copied without damaging the host's heap.
  virtual std::size_t uses_host_memory(const void* begin, std::size_t size, bool writes) = 0;
  // A texture of `size` bytes, with texels of `texel` bytes, was bound to linear memory.
  virtual void texture_bound(const void* begin, std::size_t size, std::size_t texel) = 0;
  // An emulated library has run. Its memory accesses are not observed.
  virtual void library_has_run() = 0;
  // The program may have received results in a way that copied() does not show.
  virtual void has_other_results() = 0;
  // free_refused: `pointer` is not (or no longer) the address of an allocation. copy_refused: the
  // arguments of the copy do not match the memory. In both cases, the call is rejected.
  virtual void free_refused(const void* pointer) = 0;
  virtual void copy_refused(const void* to, const void* from, std::size_t size,
                            cudaMemcpyKind direction) = 0;
  // reason: the mistake in the program's terms ("2048 threads per block, ..."), or an empty string.
  virtual void failed(cudaError_t error, const std::string& reason) = 0;
  // A library function returned an error status, and the program ignores the status.
  virtual void library_failed(const char* function, int status, const CodePlace& place) = 0;
  virtual void asked_too_early() = 0;  // host code read an event that may not be recorded yet
  virtual void asked_for_error() = 0;
  virtual void
  host_waits() = 0;  // called if host code waits for, or queries, a stream, event, device or copy

 protected:
  ~RuntimeObserver() = default;
};

extern RuntimeObserver* runtime_observer;

}  // namespace hostcuda

#endif
