// Computes the middle of a call's sources.
#include <limits>

#include "library/cuda/prepare.h"

namespace nbody::library {
namespace {

struct Point64 {
  double x, y, z;
};
struct Box64 {
  Point64 low, high;
};
struct BoxOf64 {
  __host__ __device__ Box64 operator()(const Point64& at) const { return {at, at}; }
};
struct BoxAround64 {
  __host__ __device__ Box64 operator()(const Box64& a, const Box64& b) const {
    return {{fmin(a.low.x, b.low.x), fmin(a.low.y, b.low.y), fmin(a.low.z, b.low.z)},
            {fmax(a.high.x, b.high.x), fmax(a.high.y, b.high.y), fmax(a.high.z, b.high.z)}};
  }
};
__global__ void find_middle(const Box64* box, double* middle) {
  middle[0] = 0.5 * (box->low.x + box->high.x);
  middle[1] = 0.5 * (box->low.y + box->high.y);
  middle[2] = 0.5 * (box->low.z + box->high.z);
}
}  // namespace

DeviceArray<double> middle_of(const double* positions, int count, cudaStream_t stream) {
  const DeviceArray<Box64> box(1);
  DeviceArray<double> middle(3);
  const double infinity = std::numeric_limits<double>::infinity();
  const Point64 high{infinity, infinity, infinity}, low{-infinity, -infinity, -infinity};
  CubMemory().run([&](void* memory, std::size_t& bytes) {
    return cub::DeviceReduce::TransformReduce(
        memory, bytes, reinterpret_cast<const Point64*>(positions), box.get(), count, BoxAround64(),
        BoxOf64(), Box64{high, low}, stream);
  });
  find_middle<<<1, 1, 0, stream>>>(box.get(), middle.get());
  CUDA_CHECK(cudaGetLastError());
  return middle;
}

}  // namespace nbody::library
