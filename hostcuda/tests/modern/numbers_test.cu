// Tests conversions between half, bfloat16, the 8-bit numbers and integers, and products of bytes.
// The expected values follow from IEEE 754 and from NVIDIA's definitions of the formats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cstring>

#include "support.h"

namespace {

// Many of these functions exist only in kernels, which therefore compute the results.
using Compute = void (*)(float* out);
void expect(const std::vector<float>& expected, Compute kernel) {
  DeviceArray<float> out(expected.size());
  kernel<<<1, 1>>>(out);
  EXPECT_EQ(expected, out.get());
}

__global__ void half_in_all_modes(float* out) {
  const float results[] = {float(__half2int_rz(__float2half(-2.5f))),
                           float(__half2int_rd(__float2half(-2.5f))),
                           float(__half2int_ru(__float2half(-2.5f))),
                           float(__half2int_rn(__float2half(2.5f))),
                           float(__half_as_ushort(__float2half_ru(1.0001f))),
                           float(__half_as_ushort(__float2half_rd(1.0001f))),
                           float(__half_as_ushort(__float2half_rd(-1.0001f))),
                           float(__half_as_ushort(__float2half_rz(-1.0001f))),
                           __half2float(__int2half_rn(2049)),  // a tie
                           __half2float(__int2half_ru(2049)),
                           __half2float(__ll2half_rz(1ll << 40)),
                           float(__hisinf(__ll2half_rn(1ll << 40))),
                           float(__half2short_rn(__float2half(40000.0f))),
                           float(__half2uint_rz(__float2half(-3.0f)))};
  for (int i = 0; i < 14; ++i) out[i] = results[i];
}
TEST(Numbers, HalfRoundsInAllModes) {
  expect({-2, -3, -2, 2, 0x3c01, 0x3c00, 0xbc01, 0xbc00, 2048, 2050, 65504, 1, 32767, 0},
         half_in_all_modes);
}

__global__ void bfloat16(float* out) {
  out[0] = __bfloat16_as_ushort(__float2bfloat16_rz(3.14159f));
  out[1] = __bfloat16_as_ushort(__float2bfloat16_ru(3.14159f));
  const float2 both = __bfloat1622float2(__float22bfloat162_rn(make_float2(1.5f, -2.5f)));
  out[2] = both.x;
  out[3] = both.y;
  out[4] = __bfloat162int_rn(__int2bfloat16_ru(257));
}
TEST(Numbers, Bfloat16IsTheUpperHalfOfAFloat) {
  expect({0x4049, 0x404a, 1.5f, -2.5f, 258}, bfloat16);
}

__global__ void pairs(float* out) {
  const __half2 a = __floats2half2_rn(1, 2), b = __floats2half2_rn(2, 1);
  const __half nan = __float2half(NAN);
  out[0] = __hgt2_mask(a, b) == 0xffff0000u;
  out[1] = __hlt2_mask(a, b) == 0x0000ffffu;
  out[2] = __hbeq2(a, b);
  out[3] = __hbeq2(a, a);
  out[4] = __hne(nan, nan);
  out[5] = __hneu(nan, nan);
  out[6] = __high2float(__hge2(a, b));
  out[7] = __low2float(__hge2(a, b));
  out[8] = __low2float(__lowhigh2highlow(a));
  out[9] = __half2float(__hfma_relu(__float2half(1), __float2half(-2), __float2half(1)));
  out[10] = __half2float(__hadd_sat(__float2half(1), __float2half(2)));
  out[11] = __half2float(hceil(__float2half(1.2f)));
  out[12] = __low2float(h2sqrt(__floats2half2_rn(9, 4)));
}
TEST(Numbers, PairsAreComparedElementwise) {
  expect({1, 1, 0, 1, 0, 1, 1, 0, 2, 0, 1, 2, 3}, pairs);
}

__global__ void constants(float* out) {
  const float results[] = {CUDART_ONE_FP16,  CUDART_MAX_NORMAL_FP16, CUDART_MIN_DENORM_FP16,
                           CUDART_ZERO_FP16, CUDART_INF_FP16,        CUDART_ONE_BF16,
                           CUDART_ZERO_BF16, CUDART_INF_BF16};
  for (int i = 0; i < 8; ++i) out[i] = results[i];
  out[8] = __hisnan(CUDART_NAN_FP16) && __hisnan(CUDART_NAN_BF16);
  out[9] = __half_as_ushort(CUDART_NEG_ZERO_FP16);
}
TEST(Numbers, SmallFloatsHaveConstants) {
  expect({1, 65504, 0x1p-24f, 0, INFINITY, 1, 0, INFINITY, 1, 0x8000}, constants);
}

__global__ void shuffled_pairs(float* out) {
  const float lane = threadIdx.x;
  __half2 sum = __floats2half2_rn(lane, 1);
  for (int bit = 1; bit < 32; bit *= 2) sum = __hadd2(sum, __shfl_xor_sync(0xffffffff, sum, bit));
  const __nv_bfloat162 next = __shfl_down_sync(0xffffffff, __floats2bfloat162_rn(lane, 2), 1);
  out[threadIdx.x] = __low2float(sum) + __high2float(sum) + __low2float(next);
}

TEST(Numbers, PairsAreShuffled) {
  DeviceArray<float> out(32);
  shuffled_pairs<<<1, 32>>>(out);
  const std::vector<float> got = out.get();
  for (int i = 0; i < 31; ++i) EXPECT_EQ(496 + 32 + i + 1, got[i]) << i;
}

TEST(Numbers, EightBitsHaveTwoFormats) {
  EXPECT_EQ(0x7e, __nv_fp8_e4m3(448.0f).__x);
  EXPECT_EQ(0x7e, __nv_fp8_e4m3(1e9f).__x);  // constructors saturate
  EXPECT_EQ(0x7f, __nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3));
  EXPECT_EQ(0x7c, __nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E5M2));
  EXPECT_EQ(0x01, __nv_fp8_e4m3(ldexpf(1, -9)).__x);  // the smallest number
  EXPECT_EQ(0x00, __nv_fp8_e4m3(ldexpf(1, -10)).__x);
  EXPECT_EQ(3.5f, float(__nv_fp8_e5m2(3.3f)));
  EXPECT_EQ(-57344.0f, float(__nv_fp8_e5m2(-57344.0f)));
  for (int bits = 0; bits < 0x7f; ++bits) {
    __nv_fp8_e4m3 small;
    small.__x = static_cast<unsigned char>(bits);
    EXPECT_EQ(bits, __nv_fp8_e4m3(float(small)).__x);
  }
  const float4 four = make_float4(1, -2, 0.5f, 448);
  const float4 back = float4(__nv_fp8x4_e4m3(four));
  EXPECT_EQ(-2.0f, back.y);
  EXPECT_EQ(448.0f, back.w);
}

__global__ void integers(float* out) {
  out[0] = __float2int_rz(3e9f) == 2147483647;
  out[1] = __float2uint_rz(-3.0f);
  out[2] = __float2int_rn(NAN);
  out[3] = __double2int_ru(2.1);
  out[4] = __double2int_rd(-2.1);
  out[5] = __double2ull_rn(4294967294.6) == 4294967295ull;
  out[6] = __int2float_rd(16777217);
  out[7] = __int2float_ru(16777217);
}
TEST(Numbers, IntegersSaturate) { expect({1, 0, 0, 3, -3, 1, 16777216, 16777218}, integers); }

__global__ void products_of_bytes(float* out) {
  out[0] = __dp4a(0x01020304, 0x01fe0101, 5);  // 1 - 4 + 3 + 4 + 5
  out[1] = __dp4a(0xff000001u, 0xff000001u, 5u);
  out[2] = __dp4a(make_char4(1, 2, 3, 4), make_char4(-1, -1, -1, -1), 0);
  out[3] = __dp2a_lo(0x00020001, 0x01020304, 0);
  out[4] = __dp2a_hi(0x00020001, 0x01020304, 0);
}
TEST(Numbers, BytesAreMultipliedAndAdded) {
  expect({9, 255 * 255 + 1 + 5, -10, 1 * 4 + 2 * 3, 1 * 2 + 2 * 1}, products_of_bytes);
}

__global__ void steps(float* out) {
  half h = 2;
  out[0] = h++;
  out[1] = ++h;
  out[2] = --h;
  out[3] = h--;
  half2 pair(1, 2);
  const half2 before = pair++;
  --pair;
  pair += pair;
  out[4] = before.y;
  out[5] = pair.y;
  __nv_bfloat16 b = 8;
  out[6] = ++b;
}
TEST(Numbers, SmallFloatsCountUpAndDown) { expect({2, 4, 3, 3, 2, 4, 9}, steps); }

// Numbers of 16 bits have no other atomics, so programs build these from compare-and-swap.
__global__ void swap_shorts(unsigned short* values, unsigned short* old) {
  old[0] = atomicCAS(values, static_cast<unsigned short>(1), static_cast<unsigned short>(7));
  old[1] = atomicCAS(values, static_cast<unsigned short>(1), static_cast<unsigned short>(8));
}
TEST(Numbers, ShortsAreComparedAndSwapped) {
  DeviceArray<unsigned short> values(2), old(2);
  values.set({1, 5});
  swap_shorts<<<1, 1>>>(values, old);
  EXPECT_EQ((std::vector<unsigned short>{7, 5}), values.get());
  EXPECT_EQ((std::vector<unsigned short>{1, 7}), old.get());
}

__global__ void bits_of_numbers(float* out) {
  out[0] = cuda::std::popcount(0xf0u) + cuda::std::countl_zero(static_cast<unsigned char>(1));
  out[1] = cuda::std::countr_zero(8u) + cuda::std::bit_width(8u);
  out[2] = cuda::std::bit_floor(9u) + cuda::std::bit_ceil(9u);
  out[3] = cuda::std::rotl(static_cast<unsigned char>(0x81), 1);
  out[4] = cuda::std::bit_cast<float>(0x40000000);
  out[5] = cuda::std::chrono::milliseconds(cuda::std::chrono::seconds(2)).count();
}
TEST(Numbers, FunctionsForBits) { expect({11, 7, 24, 3, 2, 2000}, bits_of_numbers); }

}  // namespace
