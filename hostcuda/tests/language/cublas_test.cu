// Tests the emulated part of cuBLAS, and half precision.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "support.h"

namespace {

TEST(Cublas, MatrixProductsAreColumnMajor) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasCreate(&handle));
  DeviceArray<float> a(6), b(6), c(8);
  a.set({1, 2, 3, 4, 5, 6});  // 2 x 3
  b.set({1, 0, 1, 0, 1, 1});  // 3 x 2
  const float one = 1, zero = 0;
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, a, 2, b, 3, &zero, c, 2));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 2, 1, 1, &one, a, 2, 2, b,
                                      1, 1, &zero, c + 4, 2, 2, 2));
  EXPECT_EQ((std::vector<float>{6, 8, 8, 10, 1, 2, 0, 0}), c.get());
  EXPECT_EQ(CUBLAS_STATUS_INVALID_VALUE,
            cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &one, a, 1, b, 3, &zero, c, 2));
  const float two = 2;
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasSaxpy(handle, 2, &two, a, 1, c, 1));
  std::vector<float> host(2);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasGetVector(2, sizeof(float), c, 1, host.data(), 1));
  EXPECT_EQ((std::vector<float>{8, 12}), host);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDestroy(handle));
}

TEST(Cublas, DoublesVectorsAndScalarsOfTheDevice) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasCreate(&handle));
  DeviceArray<double> a(4), b(4), c(4), scalar(1);
  const std::vector<double> host_a{1, 2, 3, 4}, host_b{0, 1, 1, 0};
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasSetMatrix(2, 2, sizeof(double), host_a.data(), 2, a, 2));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasSetVector(4, sizeof(double), host_b.data(), 1, b, 1));
  std::vector<double> every_second(2);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasGetVectorAsync(2, sizeof(double), a, 2, every_second.data(), 1, nullptr));
  EXPECT_EQ((std::vector<double>{1, 3}), every_second);
  const double one = 1, zero = 0, half = 0.5;
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, b, 2, &zero, c, 2));
  EXPECT_EQ((std::vector<double>{3, 4, 1, 2}), c.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &one, a, 2, &half, b, 2, c, 2));
  EXPECT_EQ((std::vector<double>{1, 3.5, 2.5, 4}), c.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDger(handle, 2, 2, &one, a, 1, a, 1, c, 2));
  EXPECT_EQ((std::vector<double>{2, 5.5, 4.5, 8}), c.get());
  double result = 0;
  int place = 0;
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDdot(handle, 4, a, 1, a, 1, &result));
  EXPECT_EQ(30, result);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDasum(handle, 4, a, 1, &result));
  EXPECT_EQ(10, result);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDnrm2(handle, 1, a + 3, 1, &result));
  EXPECT_EQ(4, result);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasIdamax(handle, 4, a, 1, &place));
  EXPECT_EQ(4, place);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasIdamin(handle, 4, b, 1, &place));
  EXPECT_EQ(1, place);
  scalar.set({2});
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDscal(handle, 4, scalar, a, 1));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDasum(handle, 4, a, 1, scalar));
  EXPECT_EQ((std::vector<double>{20}), scalar.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDswap(handle, 4, a, 1, b, 1));
  EXPECT_EQ((std::vector<double>{2, 4, 6, 8}), b.get());
  EXPECT_EQ(CUBLAS_STATUS_INVALID_VALUE, cublasDdot(handle, 4, a, 1, a, 1, nullptr));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDestroy(handle));
}

std::vector<half> first_eight(const std::vector<half>& all) {
  return {all.begin(), all.begin() + 8};
}

TEST(Cublas, ProductsOfOtherTypes) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasCreate(&handle));
  const auto product = [&](auto* a, cudaDataType type, auto* c, cudaDataType type_c,
                           cublasComputeType_t compute, auto alpha, auto beta) {
    return cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 4, 4, 2, &alpha, a, type, 4, a, type, 4,
                        &beta, c, type_c, 4, compute, CUBLAS_GEMM_DEFAULT);
  };
  DeviceArray<half> a(8), small(16, half(1.0f));
  DeviceArray<float> c(16, NAN);
  a.set({1, 2, 3, 4, 0, 1, 0, 1});  // 4 x 2
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            product(+a, CUDA_R_16F, +c, CUDA_R_32F, CUBLAS_COMPUTE_32F, 2.0f, 0.0f));
  EXPECT_EQ((std::vector<float>{2, 4, 6, 8, 4, 10, 12, 18, 6, 12, 18, 24, 8, 18, 24, 34}), c.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, product(+a, CUDA_R_16F, +small, CUDA_R_16F, CUBLAS_COMPUTE_16F,
                                           half(1.0f), half(2.0f)));
  EXPECT_EQ(19.0f, float(small.get()[15]));
  EXPECT_EQ(CUBLAS_STATUS_NOT_SUPPORTED,
            product(+a, CUDA_R_16F, +small, CUDA_R_16F, CUBLAS_COMPUTE_64F, 1.0, 0.0));
  DeviceArray<signed char> bytes(8, 127);
  DeviceArray<int> sums(16, 1);
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            product(+bytes, CUDA_R_8I, +sums, CUDA_R_32I, CUBLAS_COMPUTE_32I, 1, 1));
  EXPECT_EQ(2 * 127 * 127 + 1, sums.get()[15]);
  // Two products of a 2 x 1 and a 1 x 2 matrix.
  const half one = 1, zero = 0;
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasHgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 1, &one, a, 2, 2, a,
                                      1, 2, &zero, small, 2, 4, 2));
  EXPECT_EQ((std::vector<half>{1, 2, 2, 4, 9, 12, 12, 16}), first_eight(small.get()));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDestroy(handle));
}

TEST(Cublas, TrianglesAndRotations) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, cublasCreate(&handle));
  constexpr auto kLower = CUBLAS_FILL_MODE_LOWER;
  constexpr auto kAny = CUBLAS_DIAG_NON_UNIT;
  const double one = 1, two = 2, zero = 0;
  DeviceArray<double> a(4), b(4), c(4, 0), x(2);
  a.set({2, 3, NAN, 4});  // the upper triangle is not read
  b.set({2, 7, 4, 6});
  x.set({4, 10});
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDtrsv(handle, kLower, CUBLAS_OP_N, kAny, 2, a, 2, x, 1));
  EXPECT_EQ((std::vector<double>{2, 1}), x.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDtrmv(handle, kLower, CUBLAS_OP_T, kAny, 2, a, 2, x, 1));
  EXPECT_EQ((std::vector<double>{7, 4}), x.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasDsymm(handle, CUBLAS_SIDE_LEFT, kLower, 2, 2, &one, a, 2, b, 2, &zero, c, 2));
  EXPECT_EQ((std::vector<double>{25, 34, 26, 36}), c.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDtrsm(handle, CUBLAS_SIDE_LEFT, kLower, CUBLAS_OP_N, kAny,
                                               2, 2, &two, a, 2, b, 2));
  EXPECT_EQ((std::vector<double>{2, 2, 4, 0}), b.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDdgmm(handle, CUBLAS_SIDE_RIGHT, 2, 2, b, 2, x, -1, c, 2));
  EXPECT_EQ((std::vector<double>{8, 8, 28, 0}), c.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
            cublasDsyrk(handle, kLower, CUBLAS_OP_T, 2, 2, &one, b, 2, &zero, c, 2));
  EXPECT_EQ((std::vector<double>{8, 8, 28, 16}), c.get());
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDsyr(handle, kLower, 2, &one, x, 1, a, 2));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDsymv(handle, kLower, 2, &one, a, 2, b, 1, &zero, c, 1));
  EXPECT_EQ((std::vector<double>{164, 102, 28, 16}), c.get());
  double r = 3, z = 4, cosine = 0, sine = 0;
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDrotg(handle, &r, &z, &cosine, &sine));
  EXPECT_DOUBLE_EQ(5, r);
  EXPECT_DOUBLE_EQ(0.6, cosine);
  x.set({3, 4});
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDrot(handle, 1, x, 1, x + 1, 1, &cosine, &sine));
  EXPECT_NEAR(5, x.get()[0], 1e-12);
  EXPECT_NEAR(0, x.get()[1], 1e-12);
  EXPECT_EQ(CUBLAS_STATUS_INVALID_VALUE, cublasDsyr(handle, kLower, 2, &one, x, 1, a, 1));
  EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasDestroy(handle));
}

TEST(SmallFloat, EveryHalfSurvivesAFloat) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const half number = __ushort_as_half(static_cast<unsigned short>(bits));
    if (!__hisnan(number)) {
      EXPECT_EQ(bits, __half_as_ushort(__float2half(number)));
    }
  }
}

TEST(SmallFloat, RoundsToNearestEven) {
  EXPECT_EQ(2048.0f, float(half(2049.0f)));
  EXPECT_EQ(2052.0f, float(half(2051.0f)));
  EXPECT_EQ(65504.0f, float(half(65519.0f)));
  EXPECT_EQ(HUGE_VALF, float(half(65520.0f)));
  EXPECT_EQ(0.0f, float(half(2.9e-8f)));
  EXPECT_EQ(256.0f, float(__nv_bfloat16(257.0f)));
  EXPECT_EQ(260.0f, float(__nv_bfloat16(259.0f)));
}

TEST(SmallFloat, PairsAreElementwise) {
  half2 pair = -__floats2half2_rn(1.0f, 2.0f);
  pair += __float2half2_rn(3.0f);
  pair *= __floats2half2_rn(2.0f, 4.0f);
  EXPECT_EQ(4.0f, __low2float(pair));
  EXPECT_EQ(4.0f, __high2float(pair));
  EXPECT_TRUE(pair == __float2half2_rn(4.0f));
}

__global__ void small_sums(half* h, __nv_bfloat16* b) {
  half sum = h[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  h[threadIdx.x] = sum;
  atomicAdd(b, __nv_bfloat16(1.0f));
}

TEST(SmallFloat, ShufflesAndAtomics) {
  DeviceArray<half> h(32, half(0.5f));
  DeviceArray<__nv_bfloat16> b(1, __nv_bfloat16(0.0f));
  small_sums<<<1, 32>>>(h, b);
  for (half sum : h.get()) EXPECT_EQ(16.0f, float(sum));
  EXPECT_EQ(32.0f, float(b.get()[0]));
}

}  // namespace
