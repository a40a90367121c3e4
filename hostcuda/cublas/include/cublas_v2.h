// The part of cuBLAS that is emulated: in the order of a stream, computed by OpenBLAS.
//
// Matrices are column-major, as everywhere in BLAS. Scalars are host pointers, read before the call
// returns (CUBLAS_POINTER_MODE_HOST, the default).
#pragma once

#include <cuda_runtime.h>

using cublasHandle_t = struct cublasContext*;
enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
// Precision and algorithm: taken, without effect.
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 };
enum cudaDataType { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };
using cudaDataType_t = cudaDataType;

const char* cublasGetStatusName(cublasStatus_t status);
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return cublasGetStatusName(status);
}
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);

// y = alpha op(A) x + beta y; A has m rows and n columns, lda >= max(1, m). Where beta is 0, y is
// not read: it may hold NaN.
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                           const float* alpha, const float* a, int lda, const float* x, int incx,
                           const float* beta, float* y, int incy);
// y = alpha x + y
cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha, const float* x,
                           int incx, float* y, int incy);
// C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) k x n.
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t operation_a,
                           cublasOperation_t operation_b, int m, int n, int k, const float* alpha,
                           const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc);
// Likewise for `count` matrices that begin a stride apart.
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t operation_a,
                                         cublasOperation_t operation_b, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int count);

// Copies of n elements that lie `inc` elements apart, between host and device.
cublasStatus_t cublasSetVector(int n, int size, const void* host, int incx, void* device, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void* device, int incx, void* host, int incy);
