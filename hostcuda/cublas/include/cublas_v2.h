// The emulated part of cuBLAS, which OpenBLAS computes in stream order.
//
// Matrices are column-major, as everywhere in BLAS. A scalar in host memory (the default) is read
// before the call returns; a scalar in device memory is read when the stream reaches the call. If a
// result is in host memory, the call waits for the result.
#pragma once

#include <cuComplex.h>
#include <cuda_fp16.h>
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
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
};
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };

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
// Symmetric and triangular matrices, of which only the triangle that `fill` names is read.
#define HOSTCUDA_CUBLAS(L, Real)                                                                   \
  /* y = alpha A x + beta y; A = alpha x x^T + A */                                                \
  cublasStatus_t cublas##L##symv(cublasHandle_t handle, cublasFillMode_t fill, int n,              \
                                 const Real* alpha, const Real* a, int lda, const Real* x,         \
                                 int incx, const Real* beta, Real* y, int incy);                   \
  cublasStatus_t cublas##L##syr(cublasHandle_t handle, cublasFillMode_t fill, int n,               \
                                const Real* alpha, const Real* x, int incx, Real* a, int lda);     \
  /* x = op(A)^-1 x; x = op(A) x */                                                                \
  cublasStatus_t cublas##L##trsv(cublasHandle_t handle, cublasFillMode_t fill,                     \
                                 cublasOperation_t operation, cublasDiagType_t diagonal, int n,    \
                                 const Real* a, int lda, Real* x, int incx);                       \
  cublasStatus_t cublas##L##trmv(cublasHandle_t handle, cublasFillMode_t fill,                     \
                                 cublasOperation_t operation, cublasDiagType_t diagonal, int n,    \
                                 const Real* a, int lda, Real* x, int incx);                       \
  /* C = alpha A B + beta C, or alpha B A + beta C, with a symmetric A */                          \
  cublasStatus_t cublas##L##symm(cublasHandle_t handle, cublasSideMode_t side,                     \
                                 cublasFillMode_t fill, int m, int n, const Real* alpha,           \
                                 const Real* a, int lda, const Real* b, int ldb, const Real* beta, \
                                 Real* c, int ldc);                                                \
  /* C = alpha op(A) op(A)^T + beta C */                                                           \
  cublasStatus_t cublas##L##syrk(cublasHandle_t handle, cublasFillMode_t fill,                     \
                                 cublasOperation_t operation, int n, int k, const Real* alpha,     \
                                 const Real* a, int lda, const Real* beta, Real* c, int ldc);      \
  /* B = alpha op(A)^-1 B, or alpha B op(A)^-1 */                                                  \
  cublasStatus_t cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side,                     \
                                 cublasFillMode_t fill, cublasOperation_t operation,               \
                                 cublasDiagType_t diagonal, int m, int n, const Real* alpha,       \
                                 const Real* a, int lda, Real* b, int ldb);                        \
  /* C = diag(x) A, or A diag(x) */                                                                \
  cublasStatus_t cublas##L##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n,       \
                                 const Real* a, int lda, const Real* x, int incx, Real* c,         \
                                 int ldc);                                                         \
  /* (x, y) = (c x + s y, c y - s x); computes c and s so that (a, b) becomes (r, 0) */            \
  cublasStatus_t cublas##L##rot(cublasHandle_t handle, int n, Real* x, int incx, Real* y,          \
                                int incy, const Real* c, const Real* s);                           \
  cublasStatus_t cublas##L##rotg(cublasHandle_t handle, Real* a, Real* b, Real* c, Real* s);
HOSTCUDA_CUBLAS(S, float)
HOSTCUDA_CUBLAS(D, double)
#undef HOSTCUDA_CUBLAS

// Products of matrices of other types. The combinations of types are those that cuBLAS accepts,
// except for complex numbers. Sums of halves are computed as floats.
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t operation_a,
                            cublasOperation_t operation_b, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                          cublasOperation_t operation_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                   cublasOperation_t operation_b, int m, int n, int k,
                                   const void* alpha, const void* const a[], cudaDataType type_a,
                                   int lda, const void* const b[], cudaDataType type_b, int ldb,
                                   const void* beta, void* const c[], cudaDataType type_c, int ldc,
                                   int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm);
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t operation_a,
                                  cublasOperation_t operation_b, int m, int n, int k,
                                  const __half* alpha, const __half* a, int lda, const __half* b,
                                  int ldb, const __half* beta, __half* c, int ldc) {
  return cublasGemmEx(handle, operation_a, operation_b, m, n, k, alpha, a, CUDA_R_16F, lda, b,
                      CUDA_R_16F, ldb, beta, c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_16F,
                      CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle,
                                                cublasOperation_t operation_a,
                                                cublasOperation_t operation_b, int m, int n, int k,
                                                const __half* alpha, const __half* a, int lda,
                                                long long stride_a, const __half* b, int ldb,
                                                long long stride_b, const __half* beta, __half* c,
                                                int ldc, long long stride_c, int count) {
  return cublasGemmStridedBatchedEx(handle, operation_a, operation_b, m, n, k, alpha, a, CUDA_R_16F,
                                    lda, stride_a, b, CUDA_R_16F, ldb, stride_b, beta, c,
                                    CUDA_R_16F, ldc, stride_c, count, CUBLAS_COMPUTE_16F,
                                    CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                    cublasOperation_t operation_b, int m, int n, int k,
                                    const float* alpha, const void* a, cudaDataType type_a, int lda,
                                    const void* b, cudaDataType type_b, int ldb, const float* beta,
                                    void* c, cudaDataType type_c, int ldc) {
  return cublasGemmEx(handle, operation_a, operation_b, m, n, k, alpha, a, type_a, lda, b, type_b,
                      ldb, beta, c, type_c, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
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
