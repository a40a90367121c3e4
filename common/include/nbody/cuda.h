// Helpers that every CUDA program needs and no step teaches: error checks, and owners of device
// memory, pinned memory, streams and events. Both nvcc and, through hostcuda, the host compiler
// compile this file.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "nbody/cuda_failed.h"

// Every call that can fail must be checked with this macro. A CUDA program that ignores error codes
// reports splendid throughput on a machine without a GPU.
#define CUDA_CHECK(expression)                                                                     \
  do {                                                                                             \
    const cudaError_t cuda_check_error = (expression);                                             \
    if (cuda_check_error != cudaSuccess) {                                                         \
      ::nbody::cuda_failed(cudaGetErrorName(cuda_check_error),                                     \
                           cudaGetErrorString(cuda_check_error), #expression, __FILE__, __LINE__); \
    }                                                                                              \
  } while (0)

namespace nbody {

// Returns an attribute of device 0.
inline int device_attribute(cudaDeviceAttr attribute) {
  int value = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
  return value;
}

// Owns a handle that a CUDA call created. The destructor ignores errors, because it may run while
// an earlier error unwinds the stack. Does not use std::unique_ptr, because <memory> costs nvcc
// half a second of compilation per step.
template <class Handle, auto destroy>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owner() { reset(nullptr); }
  Handle get() const { return handle_; }
  void reset(Handle handle) {
    if (handle_ != nullptr) destroy(handle_);
    handle_ = handle;
  }

 private:
  Handle handle_ = nullptr;
};

// Uninitialized memory for `count` elements on the current device.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    T* data = nullptr;
    CUDA_CHECK(cudaMalloc(&data, bytes()));
    data_.reset(data);
  }
  T* get() const { return data_.get(); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  std::size_t count_ = 0;
  Owner<T*, cudaFree> data_;
};

// Copies whole arrays between host and device; returns when the copy is done. Steps that teach
// copies call CUDA's copy functions themselves.
template <class T>
void upload(const std::vector<T>& from, const DeviceArray<T>& to) {
  CUDA_CHECK(cudaMemcpy(to.get(), from.data(), to.bytes(), cudaMemcpyHostToDevice));
}
template <class T>
DeviceArray<T> uploaded(const std::vector<T>& from) {
  DeviceArray<T> to(from.size());
  upload(from, to);
  return to;
}
template <class T>
void download(const DeviceArray<T>& from, std::vector<T>& to) {
  CUDA_CHECK(cudaMemcpy(to.data(), from.get(), from.bytes(), cudaMemcpyDeviceToHost));
}

// `count` elements of page-locked host memory. Copy engines access it directly, so cudaMemcpyAsync
// returns at once. The CPU would first have to copy pageable memory to a page-locked buffer.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t count) : count_(count) {
    T* data = nullptr;
    CUDA_CHECK(cudaMallocHost(&data, count * sizeof(T)));
    data_.reset(data);
  }
  T* data() const { return data_.get(); }
  T& operator[](std::size_t k) const { return data_.get()[k]; }
  std::size_t size() const { return count_; }

 private:
  std::size_t count_;
  Owner<T*, cudaFreeHost> data_;
};

// An array in pinned memory that stays pinned when the array is destroyed, so that the next array
// of the same size reuses it. Pinning takes longer than copying, and a run that calls simulate()
// several times needs the memory each time. Only one thread may use this class.
template <class T>
class KeptPinnedArray {
 public:
  explicit KeptPinnedArray(std::size_t count) : memory_(take(count)) {}
  KeptPinnedArray(KeptPinnedArray&& other) noexcept = default;
  KeptPinnedArray& operator=(KeptPinnedArray&&) = delete;
  ~KeptPinnedArray() {
    if (memory_.data() == nullptr) return;
    free_ones().push_back(std::move(memory_));
  }
  T& operator[](std::size_t k) const { return memory_[k]; }

 private:
  static std::vector<PinnedArray<T>>& free_ones() {
    static std::vector<PinnedArray<T>> arrays;
    return arrays;
  }
  static PinnedArray<T> take(std::size_t count) {
    for (PinnedArray<T>& one : free_ones()) {
      if (one.size() != count) continue;
      std::swap(one, free_ones().back());
      PinnedArray<T> array = std::move(free_ones().back());
      free_ones().pop_back();
      return array;
    }
    free_ones().clear();  // frees arrays that were kept for a problem of another size
    return PinnedArray<T>(count);
  }
  PinnedArray<T> memory_;
};

class Event {
 public:
  Event() {
    cudaEvent_t event = nullptr;
    CUDA_CHECK(cudaEventCreate(&event));
    event_.reset(event);
  }
  void record(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(get(), stream)); }
  void wait() const { CUDA_CHECK(cudaEventSynchronize(get())); }
  cudaEvent_t get() const { return event_.get(); }

 private:
  Owner<cudaEvent_t, cudaEventDestroy> event_;
};

// Returns the seconds between two recorded events, after waiting for the second event.
inline double seconds_between(const Event& start, const Event& stop) {
  float milliseconds = 0;
  stop.wait();
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()));
  return milliseconds * 1e-3;
}

class Stream {
 public:
  explicit Stream(unsigned flags = cudaStreamDefault) {
    cudaStream_t stream = nullptr;
    CUDA_CHECK(cudaStreamCreateWithFlags(&stream, flags));
    stream_.reset(stream);
  }
  cudaStream_t get() const { return stream_.get(); }

 private:
  Owner<cudaStream_t, cudaStreamDestroy> stream_;
};

}  // namespace nbody
