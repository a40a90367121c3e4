// The arrays of a call. Those on the device are used directly; those on the host are copied.
#pragma once

#include "library/cuda/failure.h"
#include "library/cuda/memory.h"

namespace nbody::library {

// Makes the device of a call current until the call ends.
class Device {
 public:
  // `known`: the device that holds all arrays, if the caller knows it; otherwise negative.
  explicit Device(int known) : is_known_(known >= 0) {
    CUDA_CHECK(cudaGetDevice(&before_));
    if (is_known_) choose(known);
  }
  ~Device() {
    if (chosen_ >= 0 && chosen_ != before_) (void)cudaSetDevice(before_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  int number() const { return chosen_ >= 0 ? chosen_ : before_; }
  // Returns true if an array is on a device, and chooses that device.
  bool holds(const void* array) {
    if (array == nullptr || is_known_) return array != nullptr;
    cudaPointerAttributes attributes{};
    CUDA_CHECK(cudaPointerGetAttributes(&attributes, array));
    if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
      return false;
    if (chosen_ >= 0 && chosen_ != attributes.device) throw CudaFailure{NBODY_TWO_DEVICES};
    if (chosen_ < 0) choose(attributes.device);
    return true;
  }

 private:
  void choose(int device) {
    if (device != before_) CUDA_CHECK(cudaSetDevice(device));
    chosen_ = device;
  }

  bool is_known_;
  int before_ = 0, chosen_ = -1;
};

// An array of a call: the caller's own array if that is on the device, otherwise a copy.
template <class Real>
class Input {
 public:
  Input(const Real* array, std::size_t count, bool is_on_device, cudaStream_t stream)
      : array_(array) {
    if (array == nullptr || count == 0 || is_on_device) return;
    copy_ = DeviceArray<Real>(count);
    CUDA_CHECK(cudaMemcpyAsync(copy_.get(), array, copy_.bytes(), cudaMemcpyHostToDevice, stream));
    array_ = copy_.get();
  }
  const Real* get() const { return array_; }

 private:
  const Real* array_;
  DeviceArray<Real> copy_;
};

template <class Real>
class Result {
 public:
  Result(Real* array, std::size_t count, bool is_on_device) : array_(array) {
    if (array != nullptr && count > 0 && !is_on_device) copy_ = DeviceArray<Real>(count);
  }
  Real* get() const { return copy_.size() > 0 ? copy_.get() : array_; }
  bool is_copied() const { return copy_.size() > 0; }
  void download(cudaStream_t stream) const {
    if (!is_copied()) return;
    CUDA_CHECK(cudaMemcpyAsync(array_, copy_.get(), copy_.bytes(), cudaMemcpyDeviceToHost, stream));
  }

 private:
  Real* array_;
  DeviceArray<Real> copy_;
};

}  // namespace nbody::library
