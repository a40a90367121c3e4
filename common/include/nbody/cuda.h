// The parts of every CUDA program that are not the lesson: error checks, and owners for device
// memory, pinned memory, streams and events. Compiled by nvcc and, through hostcuda, by the host
// compiler.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nbody {

[[noreturn]] inline void cuda_failed(cudaError_t error, const char* expression, const char* file,
                                     int line) {
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + expression +
                           ": " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error));
}

}  // namespace nbody

// Every call that can fail goes through this: a CUDA program that ignores its error codes reports
// splendid throughput on a machine without a GPU.
#define CUDA_CHECK(expression)                                                 \
  do {                                                                         \
    const cudaError_t cuda_check_error = (expression);                         \
    if (cuda_check_error != cudaSuccess) {                                     \
      ::nbody::cuda_failed(cuda_check_error, #expression, __FILE__, __LINE__); \
    }                                                                          \
  } while (0)

namespace nbody {

// count elements of device memory on the current device, freed with the object. Contents undefined.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : count_(count) {
    CUDA_CHECK(cudaMalloc(&data_, count * sizeof(T)));
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }  // no check: a destructor may run while an error unwinds

  T* get() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// Whole arrays across the bus, waited for. In steps where the copies are the lesson they are
// spelled out.
template <class T>
void upload(const std::vector<T>& from, const DeviceArray<T>& to) {
  CUDA_CHECK(cudaMemcpy(to.get(), from.data(), to.bytes(), cudaMemcpyHostToDevice));
}
template <class T>
void download(const DeviceArray<T>& from, std::vector<T>& to) {
  CUDA_CHECK(cudaMemcpy(to.data(), from.get(), from.bytes(), cudaMemcpyDeviceToHost));
}

// count elements of page-locked host memory. The copy engines read and write it directly, so that
// cudaMemcpyAsync returns at once; pageable memory is copied into such a buffer first, by the CPU.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t count) : count_(count) {
    CUDA_CHECK(cudaMallocHost(&data_, count * sizeof(T)));
  }
  PinnedArray(PinnedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~PinnedArray() { cudaFreeHost(data_); }

  T* data() const { return data_; }
  T& operator[](std::size_t k) const { return data_[k]; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }

  void record(cudaStream_t stream = nullptr) { CUDA_CHECK(cudaEventRecord(event_, stream)); }
  void wait() const { CUDA_CHECK(cudaEventSynchronize(event_)); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// Seconds between two recorded events; waits for the second.
inline double seconds_between(const Event& start, const Event& stop) {
  float milliseconds = 0;
  stop.wait();
  CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.get(), stop.get()));
  return milliseconds * 1e-3;
}

class Stream {
 public:
  Stream() { CUDA_CHECK(cudaStreamCreate(&stream_)); }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace nbody
