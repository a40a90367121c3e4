// cuBLAS's products and reductions, computed by OpenBLAS.
#include <cblas.h>

#include <algorithm>

#include "calls.h"

namespace hostcuda {
namespace {

// Stores the result of compute() in `result`. If `result` is in host memory, waits for the
// computation, as cuBLAS does.
template <class Result, class Compute>
cublasStatus_t reduce(cublasHandle_t handle, int increment, Result* result,
                      const Compute& compute) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!result || increment == 0) return CUBLAS_STATUS_INVALID_VALUE;
  const cublasStatus_t status = enqueue(handle, [=] { *result = static_cast<Result>(compute()); });
  if (status == CUBLAS_STATUS_SUCCESS && handle->mode == CUBLAS_POINTER_MODE_HOST &&
      cudaStreamSynchronize(handle->stream) != cudaSuccess)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  return status;
}

// Returns element (i, j) of op(x).
template <class Real>
Real element(cublasOperation_t operation, const Real* x, int ld, int i, int j) {
  return operation == CUBLAS_OP_N ? x[i + std::size_t(j) * ld] : x[j + std::size_t(i) * ld];
}

// BLAS has a function for the index of the largest magnitude, but none for the smallest.
template <class Real>
int smallest(int n, const Real* x, int increment) {
  const auto size = [=](int i) {
    return x[i * increment] < 0 ? -x[i * increment] : x[i * increment];
  };
  int found = 0;
  for (int i = 1; i < n; ++i)
    if (size(i) < size(found)) found = i;
  return n > 0 ? found + 1 : 0;
}

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

#define FUNCTIONS(L, l, Real)                                                                      \
  cublasStatus_t cublas##L##gemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n, \
                                 const Real* alpha, const Real* a, int lda, const Real* x,         \
                                 int incx, const Real* beta, Real* y, int incy) {                  \
    return update(handle,                                                                          \
                  m >= 0 && n >= 0 && lda >= std::max(1, m) && incx && incy && alpha && beta,      \
                  [=, alpha = Scalar(handle, alpha), beta = Scalar(handle, beta)] {                \
                    cblas_##l##gemv(CblasColMajor, transposed(operation), m, n, alpha.get(), a,    \
                                    lda, x, incx, beta.get(), y, incy);                            \
                  });                                                                              \
  }                                                                                                \
  cublasStatus_t cublas##L##ger(cublasHandle_t handle, int m, int n, const Real* alpha,            \
                                const Real* x, int incx, const Real* y, int incy, Real* a,         \
                                int lda) {                                                         \
    return update(handle, m >= 0 && n >= 0 && lda >= std::max(1, m) && incx && incy && alpha,      \
                  [=, alpha = Scalar(handle, alpha)] {                                             \
                    cblas_##l##ger(CblasColMajor, m, n, alpha.get(), x, incx, y, incy, a, lda);    \
                  });                                                                              \
  }                                                                                                \
  cublasStatus_t cublas##L##gemmStridedBatched(                                                    \
      cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b, int m,  \
      int n, int k, const Real* alpha, const Real* a, int lda, long long stride_a, const Real* b,  \
      int ldb, long long stride_b, const Real* beta, Real* c, int ldc, long long stride_c,         \
      int count) {                                                                                 \
    return update(                                                                                 \
        handle, is_product(operation_a, operation_b, m, n, k, lda, ldb, ldc, count, alpha, beta),  \
        [=, alpha = Scalar(handle, alpha), beta = Scalar(handle, beta)] {                          \
          for (int i = 0; i < count; ++i)                                                          \
            cblas_##l##gemm(CblasColMajor, transposed(operation_a), transposed(operation_b), m, n, \
                            k, alpha.get(), a + i * stride_a, lda, b + i * stride_b, ldb,          \
                            beta.get(), c + i * stride_c, ldc);                                    \
        });                                                                                        \
  }                                                                                                \
  cublasStatus_t cublas##L##gemmBatched(                                                           \
      cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b, int m,  \
      int n, int k, const Real* alpha, const Real* const a[], int lda, const Real* const b[],      \
      int ldb, const Real* beta, Real* const c[], int ldc, int count) {                            \
    return update(                                                                                 \
        handle, is_product(operation_a, operation_b, m, n, k, lda, ldb, ldc, count, alpha, beta),  \
        [=, alpha = Scalar(handle, alpha), beta = Scalar(handle, beta)] {                          \
          for (int i = 0; i < count; ++i)                                                          \
            cblas_##l##gemm(CblasColMajor, transposed(operation_a), transposed(operation_b), m, n, \
                            k, alpha.get(), a[i], lda, b[i], ldb, beta.get(), c[i], ldc);          \
        });                                                                                        \
  }                                                                                                \
  cublasStatus_t cublas##L##gemm(cublasHandle_t handle, cublasOperation_t operation_a,             \
                                 cublasOperation_t operation_b, int m, int n, int k,               \
                                 const Real* alpha, const Real* a, int lda, const Real* b,         \
                                 int ldb, const Real* beta, Real* c, int ldc) {                    \
    return cublas##L##gemmStridedBatched(handle, operation_a, operation_b, m, n, k, alpha, a, lda, \
                                         0, b, ldb, 0, beta, c, ldc, 0, 1);                        \
  }                                                                                                \
  cublasStatus_t cublas##L##geam(cublasHandle_t handle, cublasOperation_t operation_a,             \
                                 cublasOperation_t operation_b, int m, int n, const Real* alpha,   \
                                 const Real* a, int lda, const Real* beta, const Real* b, int ldb, \
                                 Real* c, int ldc) {                                               \
    return update(                                                                                 \
        handle, m >= 0 && n >= 0 && ldc >= std::max(1, m) && alpha && beta,                        \
        [=, alpha = Scalar(handle, alpha), beta = Scalar(handle, beta)] {                          \
          for (int j = 0; j < n; ++j)                                                              \
            for (int i = 0; i < m; ++i)                                                            \
              c[i + std::size_t(j) * ldc] =                                                        \
                  (alpha.get() == 0 ? 0 : alpha.get() * element(operation_a, a, lda, i, j)) +      \
                  (beta.get() == 0 ? 0 : beta.get() * element(operation_b, b, ldb, i, j));         \
        });                                                                                        \
  }                                                                                                \
  cublasStatus_t cublas##L##axpy(cublasHandle_t handle, int n, const Real* alpha, const Real* x,   \
                                 int incx, Real* y, int incy) {                                    \
    return update(handle, alpha, [=, alpha = Scalar(handle, alpha)] {                              \
      cblas_##l##axpy(n, alpha.get(), x, incx, y, incy);                                           \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##L##scal(cublasHandle_t handle, int n, const Real* alpha, Real* x,         \
                                 int incx) {                                                       \
    return update(handle, alpha, [=, alpha = Scalar(handle, alpha)] {                              \
      cblas_##l##scal(n, alpha.get(), x, incx);                                                    \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##L##copy(cublasHandle_t handle, int n, const Real* x, int incx, Real* y,   \
                                 int incy) {                                                       \
    return update(handle, incx && incy, [=] { cblas_##l##copy(n, x, incx, y, incy); });            \
  }                                                                                                \
  cublasStatus_t cublas##L##swap(cublasHandle_t handle, int n, Real* x, int incx, Real* y,         \
                                 int incy) {                                                       \
    return update(handle, incx && incy, [=] { cblas_##l##swap(n, x, incx, y, incy); });            \
  }                                                                                                \
  cublasStatus_t cublas##L##dot(cublasHandle_t handle, int n, const Real* x, int incx,             \
                                const Real* y, int incy, Real* result) {                           \
    return reduce(handle, incx && incy, result,                                                    \
                  [=] { return cblas_##l##dot(n, x, incx, y, incy); });                            \
  }                                                                                                \
  cublasStatus_t cublas##L##nrm2(cublasHandle_t handle, int n, const Real* x, int incx,            \
                                 Real* result) {                                                   \
    return reduce(handle, incx, result, [=] { return cblas_##l##nrm2(n, x, incx); });              \
  }                                                                                                \
  cublasStatus_t cublas##L##asum(cublasHandle_t handle, int n, const Real* x, int incx,            \
                                 Real* result) {                                                   \
    return reduce(handle, incx, result, [=] { return cblas_##l##asum(n, x, incx); });              \
  }                                                                                                \
  cublasStatus_t cublasI##l##amax(cublasHandle_t handle, int n, const Real* x, int incx,           \
                                  int* result) {                                                   \
    return reduce(handle, incx, result,                                                            \
                  [=] { return n > 0 ? cblas_i##l##amax(n, x, incx) + 1 : 0; });                   \
  }                                                                                                \
  cublasStatus_t cublasI##l##amin(cublasHandle_t handle, int n, const Real* x, int incx,           \
                                  int* result) {                                                   \
    return reduce(handle, incx, result, [=] { return smallest(n, x, incx); });                     \
  }
FUNCTIONS(S, s, float)
FUNCTIONS(D, d, double)
