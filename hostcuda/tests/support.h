// Shared by the tests: macros that check calls, and arrays on the device.
#ifndef HOSTCUDA_TESTS_SUPPORT_H
#define HOSTCUDA_TESTS_SUPPORT_H

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#define EXPECT_CUDA(call) EXPECT_EQ(cudaSuccess, call)

inline bool environment_is(const char* name, const std::string& value) {
  const char* actual = std::getenv(name);
  return actual && actual == value;
}
inline bool streams_are_lazy() { return environment_is("HOSTCUDA_STREAMS", "lazy"); }
inline bool memory_is_poisoned() { return !environment_is("HOSTCUDA_POISON", "0"); }

inline int device_count() {
  int count = 0;
  EXPECT_CUDA(cudaGetDeviceCount(&count));
  return count;
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    EXPECT_CUDA(cudaMalloc(&data_, size * sizeof(T)));
  }
  DeviceArray(std::size_t size, T value) : DeviceArray(size) { set(std::vector<T>(size, value)); }
  ~DeviceArray() { EXPECT_CUDA(cudaFree(data_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  operator T*() const { return data_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  void set(const std::vector<T>& values) {
    EXPECT_CUDA(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  std::vector<T> get() const {
    std::vector<T> values(size_);
    EXPECT_CUDA(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

struct Stream {
  explicit Stream(unsigned flags = cudaStreamDefault) {
    EXPECT_CUDA(cudaStreamCreateWithFlags(&handle, flags));
  }
  ~Stream() {
    EXPECT_CUDA(cudaStreamSynchronize(handle));
    EXPECT_CUDA(cudaStreamDestroy(handle));
  }
  operator cudaStream_t() const { return handle; }
  cudaStream_t handle = nullptr;
};

struct Event {
  Event() { EXPECT_CUDA(cudaEventCreate(&handle)); }
  ~Event() { EXPECT_CUDA(cudaEventDestroy(handle)); }
  operator cudaEvent_t() const { return handle; }
  cudaEvent_t handle = nullptr;
};

#endif
