// Copies bodies to a device and back, in steps that do not teach copies. The host's pages stay
// locked while a Transfer exists, so that the copy engines can access them directly. The device
// splits the bodies into arrays. If the host split them, it would write to new pages for the first
// time, which takes longer than the copy.
#pragma once

#include <vector>

#include "nbody/cuda.h"

namespace nbody {

constexpr int kTransferBlock = 256;

// `Four` is float4 or a step's own type with x, y, z and w.
template <class Body, class Four>
__global__ void take_apart(const Body* bodies, int count, Four* positions, Four* velocities) {
  const int k = blockIdx.x * kTransferBlock + threadIdx.x;
  if (k >= count) return;
  const Body b = bodies[k];
  positions[k] = {b.x, b.y, b.z, b.mass};
  velocities[k] = {b.vx, b.vy, b.vz, 0};
}

template <class Body, class Four>
__global__ void put_together(Body* bodies, int count, const Four* positions,
                             const Four* velocities) {
  const int k = blockIdx.x * kTransferBlock + threadIdx.x;
  if (k >= count) return;
  const Four x = positions[k], v = velocities[k];
  bodies[k] = {x.x, x.y, x.z, v.x, v.y, v.z, x.w};
}

// Copies bodies between a host vector, which must not be resized, and two device arrays: positions
// with the mass as w, and velocities with w = 0.
template <class Body>
class Transfer {
 public:
  explicit Transfer(std::vector<Body>& bodies) : host_(bodies), device_(bodies.size()) {
    // If pages cannot be locked, the copies still work but are slower.
    locked_ =
        cudaHostRegister(host_.data(), device_.bytes(), cudaHostRegisterDefault) == cudaSuccess;
    if (!locked_) (void)cudaGetLastError();
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    if (locked_) cudaHostUnregister(host_.data());
  }

  template <class Four>
  void upload(Four* positions, Four* velocities) const {
    nbody::upload(host_, device_);
    take_apart<<<blocks(), kTransferBlock>>>(device_.get(), count(), positions, velocities);
    CUDA_CHECK(cudaGetLastError());
  }
  // Returns when the bodies have arrived.
  template <class Four>
  void download(const Four* positions, const Four* velocities) const {
    put_together<<<blocks(), kTransferBlock>>>(device_.get(), count(), positions, velocities);
    CUDA_CHECK(cudaGetLastError());
    nbody::download(device_, host_);
  }

 private:
  int count() const { return static_cast<int>(host_.size()); }
  int blocks() const { return (count() - 1) / kTransferBlock + 1; }
  std::vector<Body>& host_;
  DeviceArray<Body> device_;
  bool locked_ = false;
};

}  // namespace nbody
