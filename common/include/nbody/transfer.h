// Bodies to a device and back, where that is not the lesson. The host's pages are locked for as
// long as it takes, so that the copy engines read and write them directly, and the device takes the
// bodies apart: a host that does it writes to pages it has never touched, which takes longer than
// the copy.
#pragma once

#include <vector>

#include "nbody/cuda.h"

namespace nbody {

constexpr int kTransferBlock = 256;

// `Four` has x, y, z and w: float4, or a step's own.
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

// Between bodies on the host, which must stay where they are, and two arrays of as many elements on
// the device: positions with the mass as w, and velocities with w = 0.
template <class Body>
class Transfer {
 public:
  explicit Transfer(std::vector<Body>& bodies) : host_(bodies), device_(bodies.size()) {
    // Where pages cannot be locked, copies are only slower.
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
  // Returns when the bodies are there.
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
