// The part of cuBLAS that is emulated, and half precision.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

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
