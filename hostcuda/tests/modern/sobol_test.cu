// Tests cuRAND's quasi-random numbers.
#include <curand_kernel.h>

#include "support.h"

namespace {

// The hash of a table, as FNV-1a computes it from the bytes of its words, lowest byte first.
template <class Word>
std::uint64_t hash_of(const Word* words, std::size_t count) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t byte = 0; byte < sizeof(Word); ++byte)
      hash = (hash ^ (words[i] >> 8 * byte & 0xff)) * 0x100000001b3;
  return hash;
}

// The hashes are those of the first 53 dimensions in cuRAND's tables (CUDA 13.0).
TEST(Sobol, TheDirectionVectorsAreCurands) {
  curandDirectionVectors32_t* narrow = nullptr;
  curandDirectionVectors64_t* wide = nullptr;
  ASSERT_EQ(CURAND_STATUS_SUCCESS,
            curandGetDirectionVectors32(&narrow, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
  ASSERT_EQ(CURAND_STATUS_SUCCESS,
            curandGetDirectionVectors64(&wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
  EXPECT_EQ(0xc0000000u, narrow[1][1]);
  EXPECT_EQ(0xce2ada8c8a02e674ull, hash_of(narrow[0], 53 * 32));
  EXPECT_EQ(0x03e7936ba66ec253ull, hash_of(wide[0], 53 * 64));
  testing::internal::CaptureStderr();
  EXPECT_EQ(CURAND_STATUS_TYPE_ERROR,
            curandGetDirectionVectors32(&narrow, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6));
  EXPECT_NE("", testing::internal::GetCapturedStderr());
}

__global__ void draw(curandDirectionVectors32_t* vectors, float* out, unsigned* bits) {
  const unsigned thread = threadIdx.x;
  curandStateSobol32_t state;
  curand_init(vectors[thread % 2], thread / 2 * 4, &state);  // four numbers for each thread
  for (unsigned i = 0; i < 4; ++i) {
    curandStateSobol32_t copy = state;
    bits[4 * thread + i] = curand(&copy);
    out[4 * thread + i] = curand_uniform(&state);
  }
}

TEST(Sobol, ThreadsContinueOneSequence) {
  curandDirectionVectors32_t* host = nullptr;
  curandGetDirectionVectors32(&host, CURAND_DIRECTION_VECTORS_32_JOEKUO6);
  DeviceArray<unsigned> vectors(64), bits(64);
  vectors.set({host[0], host[0] + 64});
  DeviceArray<float> out(64);
  draw<<<1, 16>>>(reinterpret_cast<curandDirectionVectors32_t*>(static_cast<unsigned*>(vectors)),
                  out, bits);
  const std::vector<unsigned> got = bits.get();
  // The first numbers of the van der Corput sequence, in the order of Gray codes.
  const unsigned expected[] = {0, 0x80000000u, 0xc0000000u, 0x40000000u};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(expected[i], got[i]);
  // In both dimensions, the 32 numbers are in different intervals of length 1/32.
  for (unsigned dimension = 0; dimension < 2; ++dimension) {
    unsigned seen = 0;
    for (unsigned i = 0; i < 32; ++i)
      seen |= 1u << (got[4 * (2 * (i / 4) + dimension) + i % 4] >> 27);
    EXPECT_EQ(0xffffffffu, seen);
  }
  EXPECT_FLOAT_EQ(0x1p-33f, out.get()[0]);
  EXPECT_FLOAT_EQ(0.5f, out.get()[1]);
}

TEST(Sobol, TheHostGeneratorWritesOneDimensionAfterAnother) {
  curandGenerator_t generator;
  DeviceArray<float> out(8);
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandSetQuasiRandomGeneratorDimensions(generator, 2));
  EXPECT_EQ(CURAND_STATUS_LENGTH_NOT_MULTIPLE, curandGenerateUniform(generator, out, 7));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateUniform(generator, out, 8));
  std::vector<float> expected{0, 0.5, 0.75, 0.25, 0, 0.5, 0.25, 0.75}, got = out.get();
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(expected[i], got[i], 1e-6) << i;
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateUniform(generator, out, 8));
  EXPECT_NEAR(0.375, out.get()[0], 1e-6);  // the sequence continues
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandSetGeneratorOffset(generator, 1));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateNormal(generator, out, 8, 10, 2));
  got = out.get();
  EXPECT_NEAR(10, got[0], 1e-5);                  // the median
  EXPECT_NEAR(10 + 2 * 0.6744898, got[1], 1e-4);  // the upper quartile
  EXPECT_NEAR(10 - 2 * 0.6744898, got[2], 1e-4);
  testing::internal::CaptureStderr();
  EXPECT_EQ(CURAND_STATUS_OUT_OF_RANGE, curandSetQuasiRandomGeneratorDimensions(generator, 54));
  EXPECT_NE(std::string::npos, testing::internal::GetCapturedStderr().find("more than 53"));
  unsigned long long* none = nullptr;
  EXPECT_EQ(CURAND_STATUS_TYPE_ERROR, curandGenerateLongLong(generator, none, 2));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandDestroyGenerator(generator));
}

// The results are those of cuRAND in CUDA 13.0.
TEST(Random, CallsForTheOtherKindOfGeneratorFail) {
  curandGenerator_t quasi, pseudo, none;
  ASSERT_EQ(CURAND_STATUS_SUCCESS, curandCreateGenerator(&quasi, CURAND_RNG_QUASI_SOBOL64));
  ASSERT_EQ(CURAND_STATUS_SUCCESS, curandCreateGenerator(&pseudo, CURAND_RNG_PSEUDO_DEFAULT));
  DeviceArray<unsigned> bits(8);
  EXPECT_EQ(CURAND_STATUS_TYPE_ERROR, curandSetPseudoRandomGeneratorSeed(quasi, 1));
  EXPECT_EQ(CURAND_STATUS_TYPE_ERROR, curandSetQuasiRandomGeneratorDimensions(pseudo, 2));
  EXPECT_EQ(CURAND_STATUS_TYPE_ERROR, curandGenerate(quasi, bits, 8));
  EXPECT_EQ(CURAND_STATUS_TYPE_ERROR, curandCreateGenerator(&none, curandRngType(162)));
  EXPECT_EQ(CURAND_STATUS_OUT_OF_RANGE,
            curandSetGeneratorOrdering(quasi, CURAND_ORDERING_PSEUDO_BEST));
  EXPECT_EQ(CURAND_STATUS_OUT_OF_RANGE,
            curandSetGeneratorOrdering(pseudo, CURAND_ORDERING_QUASI_DEFAULT));
  EXPECT_EQ(CURAND_STATUS_OUT_OF_RANGE, curandGeneratePoisson(pseudo, bits, 8, 0));
  DeviceArray<float> out(8);
  EXPECT_EQ(CURAND_STATUS_LENGTH_NOT_MULTIPLE, curandGenerateNormal(pseudo, out, 7, 0, 1));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateNormal(quasi, out, 7, 0, 1));
  EXPECT_EQ(CURAND_STATUS_NOT_INITIALIZED, curandDestroyGenerator(nullptr));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandDestroyGenerator(quasi));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandDestroyGenerator(pseudo));
}

TEST(Sobol, TheQuantilesAreAccurate) {
  using hostcuda::sobol::quantile;
  const double table[][2] = {// from Wichura's paper
                             {0.25, -0.6744897501960817},
                             {0.001, -3.090232306167814},
                             {1e-20, -9.262340089798408}};
  for (const auto& [p, expected] : table) EXPECT_NEAR(1, quantile(p) / expected, 1e-15) << p;
  EXPECT_EQ(0, quantile(0.5));
  // A small error of the quantile x makes an error of the probability that is x^2 times as large.
  for (double p = 0.5; p > 0x1p-54; p *= 0.97)
    EXPECT_NEAR(1, erfc(-quantile(p) / sqrt(2.0)) / 2 / p, 1e-13) << p;
}

TEST(Sobol, SixtyFourBits) {
  curandGenerator_t generator;
  DeviceArray<unsigned long long> out(4);
  DeviceArray<double> numbers(4);
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL64));
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateLongLong(generator, out, 4));
  EXPECT_EQ((std::vector<unsigned long long>{0, 1ull << 63, 3ull << 62, 1ull << 62}), out.get());
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandGenerateUniformDouble(generator, numbers, 4));
  EXPECT_NEAR(0.375, numbers.get()[0], 1e-15);
  EXPECT_EQ(CURAND_STATUS_SUCCESS, curandDestroyGenerator(generator));
}

}  // namespace
