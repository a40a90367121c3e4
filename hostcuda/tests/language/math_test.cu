// Tests vector types and the functions that CUDA adds to <math.h>.
#include <cuComplex.h>

#include <cmath>
#include <limits>

#include "support.h"

namespace {

static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
static_assert(sizeof(float2) == 8 && alignof(float2) == 8);
static_assert(sizeof(double4) == 32 && alignof(double4) == 16);
static_assert(sizeof(double2) == 16 && alignof(double2) == 16);
static_assert(sizeof(int3) == 12 && sizeof(uint4) == 16 && sizeof(double3) == 24);
struct __align__(16) Body {
  float3 position;
};
static_assert(sizeof(Body) == 16);

__global__ void evaluate(float* out, float x) {
  int i = 0;
  out[i++] = rsqrtf(x);
  out[i++] = __frsqrt_rn(x);
  out[i++] = __fdividef(1.0f, sqrtf(x));
  out[i++] = 1 / static_cast<float>(rsqrt(1.0 / static_cast<double>(x)));
  out[i++] = __expf(-0.5f * __logf(x));
  out[i++] = __powf(x, -0.5f);
}

TEST(Math, InverseSquareRoots) {
  DeviceArray<float> out(6);
  evaluate<<<1, 1>>>(out, 7.25f);
  for (float value : out.get()) EXPECT_NEAR(1 / std::sqrt(7.25), value, 1e-6);
}

TEST(Math, SmallFunctions) {
  EXPECT_EQ(7.0f, __fmaf_rn(2, 3, 1));
  EXPECT_EQ(fmaf(0.1f, 0.2f, 0.3f), __fmaf_rn(0.1f, 0.2f, 0.3f));
  EXPECT_EQ(0x3f800000, __float_as_int(1.0f));
  EXPECT_EQ(1.0f, __int_as_float(0x3f800000));
  EXPECT_EQ(-2.5, __longlong_as_double(__double_as_longlong(-2.5)));
  EXPECT_EQ(0.0f, __saturatef(-1));
  EXPECT_EQ(1.0f, __saturatef(2));
  EXPECT_EQ(0.0f, __saturatef(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_EQ(5, __popc(0x1fu));
  EXPECT_EQ(32, __clz(0));
  EXPECT_EQ(0, __clz(-1));
  EXPECT_EQ(4, __ffs(8));
  EXPECT_EQ(0x80000000u, __brev(1));
}

TEST(Math, MinAndMax) {
  EXPECT_EQ(-1, min(-1, 2));
  EXPECT_EQ(2u, min(-1, 2u));  // -1 becomes unsigned, as in CUDA
  EXPECT_EQ(2.5, max(2.0f, 2.5));
  EXPECT_EQ(std::size_t{3}, max(std::size_t{3}, std::size_t{2}));
  EXPECT_EQ(1.0f, min(1.0f, std::numeric_limits<float>::quiet_NaN()));
}

TEST(Math, Vectors) {
  const float4 p = make_float4(1, 2, 3, 4);
  EXPECT_EQ(10, p.x + p.y + p.z + p.w);
  const dim3 d(2, 3);
  EXPECT_EQ(6u, d.x * d.y * d.z);
  EXPECT_EQ(32, warpSize);
}

TEST(Math, ComplexNumbersOfC) {
  const cuDoubleComplex a = make_cuDoubleComplex(1, 2), b = make_cuDoubleComplex(3, -4);
  const cuDoubleComplex product = cuCmul(a, b), quotient = cuCdiv(product, b);
  EXPECT_EQ(11, cuCreal(product));
  EXPECT_EQ(2, cuCimag(product));
  EXPECT_NEAR(1, quotient.x, 1e-15);
  EXPECT_NEAR(2, quotient.y, 1e-15);
  EXPECT_EQ(5, cuCabs(b));
  const cuComplex sum = cuCfmaf(make_cuComplex(0, 1), make_cuComplex(0, 1), make_cuComplex(1, 1));
  EXPECT_EQ(0, cuCrealf(sum));
  EXPECT_EQ(-1, cuCimagf(cuConjf(sum)));
}

TEST(Math, InversesOfDistributions) {
  for (const double x : {-0.999999, -0.7, -0.3, -1e-12, 1e-300, 0.1, 0.5, 0.9, 0.9999999999}) {
    EXPECT_NEAR(1, std::erf(erfinv(x)) / x, 1e-14) << x;
    EXPECT_NEAR(1, std::erfc(erfcinv(1 + x)) / (1 + x), 1e-13) << x;
  }
  EXPECT_NEAR(1, std::erfc(erfcinv(1e-200)) / 1e-200, 1e-12);
  EXPECT_NEAR(-1.9599639845400545, normcdfinv(0.025), 1e-14);
  EXPECT_NEAR(1.6448536f, normcdfinvf(0.95f), 1e-5);
  EXPECT_EQ(HUGE_VAL, erfinv(1.0));
  EXPECT_EQ(HUGE_VAL, erfcinv(0.0));
  EXPECT_TRUE(std::isnan(erfinvf(1.5f)));
  EXPECT_TRUE(std::isnan(normcdfinv(-0.1)));
}

TEST(Math, SpecialFunctionsAndNorms) {
  EXPECT_NEAR(0.11070463773306863, erfcx(5.0), 1e-15);  // by the definition and by the series
  EXPECT_NEAR(erfcx(49.999999), erfcx(50.0), 1e-9);
  EXPECT_NEAR(1, erfcx(50.0) * 88.64040862557836, 1e-7);
  EXPECT_NEAR(108.94090438997797, erfcx(-2.0), 1e-12);
  EXPECT_NEAR(1.2660658777520084, cyl_bessel_i0(-1.0), 1e-14);
  EXPECT_NEAR(-0.5651591039924851, cyl_bessel_i1(-1.0), 1e-14);
  EXPECT_NEAR(1e300 * std::sqrt(3.0), norm3d(1e300, 1e300, 1e300), 1e286);
  EXPECT_EQ(0.2, rhypot(3.0, 4.0));
  EXPECT_FLOAT_EQ(5e30f, norm3df(3e30f, 4e30f, 0));
  EXPECT_FLOAT_EQ(5e-30f, norm3df(3e-30f, 0, 4e-30f));
  EXPECT_FLOAT_EQ(2e29f, rnorm3df(3e-30f, 0, 4e-30f));
  EXPECT_EQ(4.0f, norm4df(2, 2, 2, 2));
  const float values[] = {3, 4, 12};
  EXPECT_EQ(13.0f, normf(3, values));
  EXPECT_EQ(-3, llmin(-3ll, 2ll));
}

__global__ void of_half_turns(double* out) {
  const double x[] = {0.5, 1, 1.5, -1, 1e10 + 0.25, 1.0 / 6, -0.75, 2};
  for (int k = 0; k < 8; ++k) out[2 * k] = sinpi(x[k]), out[2 * k + 1] = cospi(x[k]);
  out[16] = cospif(1.5f), out[17] = sinpif(1e7f);
}

TEST(Math, HalfTurnsAreReducedExactly) {
  DeviceArray<double> out(18);
  of_half_turns<<<1, 1>>>(out);
  const double half = std::sqrt(0.5);
  const std::vector<double> wanted = {
      1, 0, 0, -1, -1, 0, 0, -1, half, half, 0.5, std::sqrt(0.75), -half, -half, 0, 1, 0, 0};
  const std::vector<double> got = out.get();
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(wanted[k], got[k], 2e-16) << k;
  for (const std::size_t k : {1u, 2u, 5u, 6u, 14u, 16u, 17u}) EXPECT_EQ(0, got[k]) << k;
}

}  // namespace
