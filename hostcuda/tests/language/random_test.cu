// Tests cuRAND: known numbers, distributions, streams.
#include <curand.h>

#include <cmath>

#include "support.h"

namespace {

// Known answers from Salmon et al., Random123: counter and key have all bits 0, or all bits 1.
TEST(Random, PhiloxKnownAnswers) {
  curandState state;
  curand_init(0, 0, 0, &state);
  EXPECT_EQ(0x6627e8d5u, curand(&state));
  EXPECT_EQ(0xe169c58du, curand(&state));
  EXPECT_EQ(0xbc57ac4cu, curand(&state));
  EXPECT_EQ(0x9b00dbd8u, curand(&state));
  curand_init(~0ull, ~0ull, ~0ull, &state);
  state.block = ~0ull;
  hostcuda::philox_block(state, state.numbers);
  EXPECT_EQ(0x408f276du, state.numbers[0]);
  EXPECT_EQ(0x41c83b0eu, state.numbers[1]);
}

TEST(Random, AnOffsetSkipsNumbers) {
  curandState first, second, third;
  curand_init(7, 3, 0, &first);
  curand_init(7, 3, 6, &second);
  curand_init(7, 3, 0, &third);
  skipahead(6, &third);
  for (int i = 0; i < 6; ++i) curand(&first);
  for (int i = 0; i < 6; ++i) {
    const unsigned wanted = curand(&first);
    EXPECT_EQ(wanted, curand(&second));
    EXPECT_EQ(wanted, curand(&third));
  }
}

struct Moments {
  double mean = 0, variance = 0;
};
template <class T>
Moments moments(const std::vector<T>& values) {
  Moments m;
  for (const T value : values) m.mean += value / static_cast<double>(values.size());
  for (const T value : values)
    m.variance += std::pow(value - m.mean, 2) / static_cast<double>(values.size());
  return m;
}

__global__ void normals(float* out, int count) {
  curandState state;
  curand_init(42, threadIdx.x, 0, &state);
  for (int i = 0; i < count; ++i) out[i * blockDim.x + threadIdx.x] = curand_normal(&state);
}

TEST(Random, DistributionsHaveTheirMoments) {
  constexpr int kCount = 20000;
  curandGenerator_t generator;
  ASSERT_EQ(CURAND_STATUS_SUCCESS, curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
  DeviceArray<float> uniform(kCount), normal(kCount);
  DeviceArray<unsigned> poisson(kCount);
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateUniform(generator, uniform, kCount));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGeneratePoisson(generator, poisson, kCount, 3.0));
  normals<<<1, 100>>>(normal, kCount / 100);
  const Moments u = moments(uniform.get()), n = moments(normal.get()), p = moments(poisson.get());
  EXPECT_NEAR(0.5, u.mean, 0.01);
  EXPECT_NEAR(1.0 / 12, u.variance, 0.005);
  EXPECT_NEAR(0, n.mean, 0.04);
  EXPECT_NEAR(1, n.variance, 0.05);
  EXPECT_NEAR(3, p.mean, 0.06);
  EXPECT_NEAR(3, p.variance, 0.15);
  DeviceArray<float> again(kCount);
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateUniform(generator, again, kCount));
  EXPECT_NE(uniform.get(), again.get()) << "a call continues where the last one ended";
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandSetPseudoRandomGeneratorSeed(generator, 0));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateUniform(generator, again, kCount));
  EXPECT_EQ(uniform.get(), again.get());
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandDestroyGenerator(generator));
}

}  // namespace
