// Tests the estimates of forces by clouds (step15c_clouds/clouds.h).
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nbody/cuda.h"
#include "step15c_clouds/clouds.h"

namespace nbody {
namespace {

constexpr float kSofteningSquared = 1e-4f;

// Returns bodies of mass 1 / n in a cube, in the order of a curve that fills it row by row.
std::vector<float4> cube(int n) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> drawn(0, 1);
  std::vector<float4> bodies;
  for (int i = 0; i < n; ++i)
    bodies.push_back({static_cast<float>(i) / n, drawn(random), drawn(random), 1.0f / n});
  return bodies;
}

// Returns each group's estimate of its smallest |a|.
std::vector<float> estimates(const std::vector<float4>& bodies) {
  const auto n = static_cast<int>(bodies.size());
  const DeviceArray<float4> on_device(bodies.size());
  const DeviceArray<clouds::Cloud> clouds(static_cast<std::size_t>(clouds::number_of_clouds(n)));
  std::vector<float> weakest(static_cast<std::size_t>((n - 1) / 32 + 1));
  const DeviceArray<float> found(weakest.size());
  cudaMemcpy(on_device.get(), bodies.data(), bodies.size() * sizeof(float4), cudaMemcpyDefault);
  clouds::estimate(on_device.get(), n, kSofteningSquared, clouds.get(), found.get());
  cudaMemcpy(weakest.data(), found.get(), weakest.size() * sizeof(float), cudaMemcpyDefault);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  return weakest;
}

float force_on(const std::vector<float4>& bodies, std::size_t i) {
  double a[3] = {};
  for (const float4& other : bodies) {
    const double d[] = {other.x - bodies[i].x, other.y - bodies[i].y, other.z - bodies[i].z};
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kSofteningSquared;
    for (int k = 0; k < 3; ++k) a[k] += other.w / (square * std::sqrt(square)) * d[k];
  }
  return static_cast<float>(std::hypot(a[0], a[1], a[2]));
}

// A heavy body attracts its neighbours far more than they attract it. Its group must therefore
// estimate a small |a|, also if the body is one of the last bodies of its group, which no estimate
// is for, and a new cloud begins there.
TEST(Clouds, EstimateTheForceOnAHeavyBody) {
  constexpr int kBodies = 1856;  // 29 bodies per cloud, if clouds were not multiples of 32
  for (std::size_t heavy = 29; heavy < kBodies; heavy += heavy % 32 == 31 ? 30 : 1) {
    std::vector<float4> bodies = cube(kBodies);
    bodies[heavy].w = 1000;
    EXPECT_LE(estimates(bodies)[heavy / 32], 4 * force_on(bodies, heavy)) << heavy;
  }
}

// Forces whose squares leave the range of float32 are as accurate as others.
TEST(Clouds, EstimateForcesOfAnySize) {
  std::vector<float4> bodies = cube(1000);
  const std::vector<float> of_one = estimates(bodies);
  for (const float mass : {0x1p80f, 0x1p-80f}) {
    std::vector<float4> scaled = bodies;
    for (float4& body : scaled) body.w *= mass;
    const std::vector<float> found = estimates(scaled);
    for (std::size_t k = 0; k < found.size(); ++k)
      EXPECT_FLOAT_EQ(found[k] / mass, of_one[k]) << mass << ", group " << k;
  }
}

}  // namespace
}  // namespace nbody
