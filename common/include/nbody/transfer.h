// Bodies to a device and back, where that is not the lesson. The host's pages are locked for as
// long as it takes, so that the copy engines read and write them directly, and the device takes the
// bodies apart: a host that does it writes to pages it has never touched, each of which costs it
// more than the copy.
#pragma once

#include <span>

#include "nbody/bodies.h"
#include "nbody/cuda.h"

namespace nbody {

constexpr int kTransferBlock = 256;

__global__ inline void take_apart(const Body* bodies, int count, float4* positions,
                                  float4* velocities) {
  const int k = blockIdx.x * kTransferBlock + threadIdx.x;
  if (k >= count) return;
  const Body b = bodies[k];
  positions[k] = make_float4(b.x, b.y, b.z, b.mass);
  velocities[k] = make_float4(b.vx, b.vy, b.vz, 0.0f);
}

__global__ inline void put_together(Body* bodies, int count, const float4* positions,
                                    const float4* velocities) {
  const int k = blockIdx.x * kTransferBlock + threadIdx.x;
  if (k >= count) return;
  const float4 x = positions[k], v = velocities[k];
  bodies[k] = {x.x, x.y, x.z, v.x, v.y, v.z, x.w};
}

// Between `bodies` on the host, which must stay where they are, and two arrays of as many elements
// on the device: positions with the mass as w, and velocities with w = 0. Calls return when the
// host's memory is read or written.
class Transfer {
 public:
  explicit Transfer(std::span<Body> bodies) : host_(bodies), device_(bodies.size()) {
    // Where pages cannot be locked, copies are only slower.
    locked_ =
        cudaHostRegister(host_.data(), host_.size_bytes(), cudaHostRegisterDefault) == cudaSuccess;
    if (!locked_) (void)cudaGetLastError();
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (locked_) cudaHostUnregister(host_.data());
  }

  void upload(float4* positions, float4* velocities) const {
    CUDA_CHECK(cudaMemcpy(device_.get(), host_.data(), device_.bytes(), cudaMemcpyHostToDevice));
    take_apart<<<blocks(), kTransferBlock>>>(device_.get(), count(), positions, velocities);
    CUDA_CHECK(cudaGetLastError());
  }
  void download(const float4* positions, const float4* velocities) const {
    put_together<<<blocks(), kTransferBlock>>>(device_.get(), count(), positions, velocities);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(host_.data(), device_.get(), device_.bytes(), cudaMemcpyDeviceToHost));
  }

 private:
  int count() const { return static_cast<int>(host_.size()); }
  int blocks() const { return (count() - 1) / kTransferBlock + 1; }
  std::span<Body> host_;
  DeviceArray<Body> device_;
  bool locked_ = false;
};

}  // namespace nbody
