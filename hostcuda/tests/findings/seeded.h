// Shared by the seeded bugs. For each bug, one function runs the bug or its correction. SEEDED(name
// of the bug, kind of its finding) precedes the function's body. A comment, `// BUG` and the name,
// precedes the line that the finding must report.
#ifndef HOSTCUDA_TESTS_FINDINGS_SEEDED_H
#define HOSTCUDA_TESTS_FINDINGS_SEEDED_H

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

namespace seeded {

struct Bug {
  const char* name;
  const char* kind;  // the kind of the finding
  void (*run)(bool wrong);
};

inline std::vector<Bug>& all_bugs() {
  static std::vector<Bug> bugs;
  return bugs;
}
inline bool list(const Bug& bug) { return all_bugs().push_back(bug), true; }

#define SEEDED(name, kind)                                           \
  void name(bool wrong);                                             \
  const bool name##_is_listed = ::seeded::list({#name, kind, name}); \
  void name(bool wrong)

constexpr int kThreads = 64;

// Device memory, filled with zeros on request.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, bool zero = true) : count_(count) {
    cudaMalloc(&data, count * sizeof(T));
    if (zero) cudaMemset(data, 0, count * sizeof(T));
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::vector<T> get() const {
    std::vector<T> values(count_);
    cudaMemcpy(values.data(), data, count_ * sizeof(T), cudaMemcpyDeviceToHost);
    return values;
  }
  T* data = nullptr;

 private:
  std::size_t count_;
};

// Seeds a bug in a kernel that takes an array of `ints` integers, all zero, and the flag `wrong`.
#define SEEDED_KERNEL(name, kind, kernel, blocks, threads, ints) \
  SEEDED(name, kind) {                                           \
    const Buffer<int> out(ints);                                 \
    kernel<<<blocks, threads>>>(out.data, wrong);                \
  }

struct Stream {
  explicit Stream(unsigned flags = cudaStreamDefault) { cudaStreamCreateWithFlags(&handle, flags); }
  ~Stream() { cudaStreamDestroy(handle); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return handle; }
  cudaStream_t handle = nullptr;
};

__device__ inline int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

}  // namespace seeded

#endif
