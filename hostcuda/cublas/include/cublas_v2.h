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
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_EXECUTION_FAILED = 13
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };

const char* cublasGetStatusName(cublasStatus_t status);
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);

// y = alpha op(A) x + beta y; A has m rows and n columns, lda >= max(1, m). Where beta is 0, y is
// not read: it may hold NaN.
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                           const float* alpha, const float* a, int lda, const float* x, int incx,
                           const float* beta, float* y, int incy);
