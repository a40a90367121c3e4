// The emulated part of cuBLAS, which OpenBLAS computes in stream order.
//
// Matrices are column-major, as everywhere in BLAS. A scalar in host memory (the default) is read
// before the call returns; a scalar in device memory is read when the stream reaches the call. If a
// result is in host memory, the call waits for the result.
#pragma once

#include <cuComplex.h>
#include <cuda_runtime.h>
#include <library_types.h>

#define CUBLAS_API_H_  // headers of NVIDIA's samples test this macro

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
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
// Precision and algorithm settings, which are accepted but have no effect.
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

const char* cublasGetStatusName(cublasStatus_t status);
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return cublasGetStatusName(status);
}
cublasStatus_t cublasCreate(cublasHandle_t* handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);

// Declares the functions for float or double. L is the letter in their names, and Real is the type.
#define HOSTCUDA_CUBLAS(L, Real)                                                                   \
  /* y = alpha op(A) x + beta y; A is m x n, lda >= max(1, m). Where beta is 0, y is not read. */  \
  cublasStatus_t cublas##L##gemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n, \
                                 const Real* alpha, const Real* a, int lda, const Real* x,         \
                                 int incx, const Real* beta, Real* y, int incy);                   \
  /* A = alpha x y^T + A */                                                                        \
  cublasStatus_t cublas##L##ger(cublasHandle_t handle, int m, int n, const Real* alpha,            \
                                const Real* x, int incx, const Real* y, int incy, Real* a,         \
                                int lda);                                                          \
  /* C = alpha op(A) op(B) + beta C; op(A) is m x k, op(B) k x n. */                               \
  cublasStatus_t cublas##L##gemm(cublasHandle_t handle, cublasOperation_t operation_a,             \
                                 cublasOperation_t operation_b, int m, int n, int k,               \
                                 const Real* alpha, const Real* a, int lda, const Real* b,         \
                                 int ldb, const Real* beta, Real* c, int ldc);                     \
  /* The same for `count` matrices, given by a stride or by arrays of pointers on the device. */   \
  cublasStatus_t cublas##L##gemmStridedBatched(                                                    \
      cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b, int m,  \
      int n, int k, const Real* alpha, const Real* a, int lda, long long stride_a, const Real* b,  \
      int ldb, long long stride_b, const Real* beta, Real* c, int ldc, long long stride_c,         \
      int count);                                                                                  \
  cublasStatus_t cublas##L##gemmBatched(                                                           \
      cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b, int m,  \
      int n, int k, const Real* alpha, const Real* const a[], int lda, const Real* const b[],      \
      int ldb, const Real* beta, Real* const c[], int ldc, int count);                             \
  /* C = alpha op(A) + beta op(B) */                                                               \
  cublasStatus_t cublas##L##geam(cublasHandle_t handle, cublasOperation_t operation_a,             \
                                 cublasOperation_t operation_b, int m, int n, const Real* alpha,   \
                                 const Real* a, int lda, const Real* beta, const Real* b, int ldb, \
                                 Real* c, int ldc);                                                \
  /* y = alpha x + y; x = alpha x; y = x; x <-> y */                                               \
  cublasStatus_t cublas##L##axpy(cublasHandle_t handle, int n, const Real* alpha, const Real* x,   \
                                 int incx, Real* y, int incy);                                     \
  cublasStatus_t cublas##L##scal(cublasHandle_t handle, int n, const Real* alpha, Real* x,         \
                                 int incx);                                                        \
  cublasStatus_t cublas##L##copy(cublasHandle_t handle, int n, const Real* x, int incx, Real* y,   \
                                 int incy);                                                        \
  cublasStatus_t cublas##L##swap(cublasHandle_t handle, int n, Real* x, int incx, Real* y,         \
                                 int incy);                                                        \
  /* x . y; the length of x; the sum of |x_i| */                                                   \
  cublasStatus_t cublas##L##dot(cublasHandle_t handle, int n, const Real* x, int incx,             \
                                const Real* y, int incy, Real* result);                            \
  cublasStatus_t cublas##L##nrm2(cublasHandle_t handle, int n, const Real* x, int incx,            \
                                 Real* result);                                                    \
  cublasStatus_t cublas##L##asum(cublasHandle_t handle, int n, const Real* x, int incx,            \
                                 Real* result);
HOSTCUDA_CUBLAS(S, float)
HOSTCUDA_CUBLAS(D, double)
#undef HOSTCUDA_CUBLAS
// Returns the index, starting at 1, of the first element with the largest or smallest magnitude.
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double* x, int incx, int* result);
cublasStatus_t cublasIsamin(cublasHandle_t handle, int n, const float* x, int incx, int* result);
cublasStatus_t cublasIdamin(cublasHandle_t handle, int n, const double* x, int incx, int* result);

// These functions copy between host and device, at once or in stream order. The Vector functions
// copy n elements with increments; the Matrix functions copy part of a matrix, column by column.
#define HOSTCUDA_COPIES(Set)                                                                     \
  cublasStatus_t cublas##Set##Vector(int n, int size, const void* from, int incx, void* to,      \
                                     int incy);                                                  \
  cublasStatus_t cublas##Set##VectorAsync(int n, int size, const void* from, int incx, void* to, \
                                          int incy, cudaStream_t stream);                        \
  cublasStatus_t cublas##Set##Matrix(int rows, int columns, int size, const void* from, int lda, \
                                     void* to, int ldb);                                         \
  cublasStatus_t cublas##Set##MatrixAsync(int rows, int columns, int size, const void* from,     \
                                          int lda, void* to, int ldb, cudaStream_t stream);
HOSTCUDA_COPIES(Set)
HOSTCUDA_COPIES(Get)
#undef HOSTCUDA_COPIES
