// cuBLAS's functions for symmetric, triangular and diagonal matrices, and rotations.
#include "calls.h"

namespace hostcuda {
namespace {

CBLAS_UPLO triangle(cublasFillMode_t fill) {
  return fill == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper;
}
CBLAS_DIAG unit(cublasDiagType_t diagonal) {
  return diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit;
}
CBLAS_SIDE side_of(cublasSideMode_t side) {
  return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}
bool is_square(int n, int lda) { return n >= 0 && lda >= std::max(1, n); }
bool is_matrix(int m, int n, int lda) { return n >= 0 && is_square(m, lda); }

}  // namespace
}  // namespace hostcuda

using namespace hostcuda;

#define FUNCTIONS(L, l, Real)                                                                      \
  cublasStatus_t cublas##L##symv(cublasHandle_t handle, cublasFillMode_t fill, int n,              \
                                 const Real* alpha, const Real* a, int lda, const Real* x,         \
                                 int incx, const Real* beta, Real* y, int incy) {                  \
    return update(handle, is_square(n, lda) && incx && incy && alpha && beta,                      \
                  [=, alpha = Scalar(handle, alpha), beta = Scalar(handle, beta)] {                \
                    cblas_##l##symv(CblasColMajor, triangle(fill), n, alpha.get(), a, lda, x,      \
                                    incx, beta.get(), y, incy);                                    \
                  });                                                                              \
  }                                                                                                \
  cublasStatus_t cublas##L##syr(cublasHandle_t handle, cublasFillMode_t fill, int n,               \
                                const Real* alpha, const Real* x, int incx, Real* a, int lda) {    \
    return update(handle, is_square(n, lda) && incx && alpha, [=, alpha = Scalar(handle, alpha)] { \
      cblas_##l##syr(CblasColMajor, triangle(fill), n, alpha.get(), x, incx, a, lda);              \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##L##trsv(cublasHandle_t handle, cublasFillMode_t fill,                     \
                                 cublasOperation_t operation, cublasDiagType_t diagonal, int n,    \
                                 const Real* a, int lda, Real* x, int incx) {                      \
    return update(handle, is_square(n, lda) && incx, [=] {                                         \
      cblas_##l##trsv(CblasColMajor, triangle(fill), transposed(operation), unit(diagonal), n, a,  \
                      lda, x, incx);                                                               \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##L##trmv(cublasHandle_t handle, cublasFillMode_t fill,                     \
                                 cublasOperation_t operation, cublasDiagType_t diagonal, int n,    \
                                 const Real* a, int lda, Real* x, int incx) {                      \
    return update(handle, is_square(n, lda) && incx, [=] {                                         \
      cblas_##l##trmv(CblasColMajor, triangle(fill), transposed(operation), unit(diagonal), n, a,  \
                      lda, x, incx);                                                               \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##L##symm(cublasHandle_t handle, cublasSideMode_t side,                     \
                                 cublasFillMode_t fill, int m, int n, const Real* alpha,           \
                                 const Real* a, int lda, const Real* b, int ldb, const Real* beta, \
                                 Real* c, int ldc) {                                               \
    return update(handle,                                                                          \
                  is_square(side == CUBLAS_SIDE_LEFT ? m : n, lda) && is_matrix(m, n, ldb) &&      \
                      is_matrix(m, n, ldc) && alpha && beta,                                       \
                  [=, alpha = Scalar(handle, alpha), beta = Scalar(handle, beta)] {                \
                    cblas_##l##symm(CblasColMajor, side_of(side), triangle(fill), m, n,            \
                                    alpha.get(), a, lda, b, ldb, beta.get(), c, ldc);              \
                  });                                                                              \
  }                                                                                                \
  cublasStatus_t cublas##L##syrk(cublasHandle_t handle, cublasFillMode_t fill,                     \
                                 cublasOperation_t operation, int n, int k, const Real* alpha,     \
                                 const Real* a, int lda, const Real* beta, Real* c, int ldc) {     \
    const bool plain = operation == CUBLAS_OP_N;                                                   \
    return update(                                                                                 \
        handle,                                                                                    \
        is_matrix(plain ? n : k, plain ? k : n, lda) && is_square(n, ldc) && alpha && beta,        \
        [=, alpha = Scalar(handle, alpha), beta = Scalar(handle, beta)] {                          \
          cblas_##l##syrk(CblasColMajor, triangle(fill), transposed(operation), n, k, alpha.get(), \
                          a, lda, beta.get(), c, ldc);                                             \
        });                                                                                        \
  }                                                                                                \
  cublasStatus_t cublas##L##trsm(cublasHandle_t handle, cublasSideMode_t side,                     \
                                 cublasFillMode_t fill, cublasOperation_t operation,               \
                                 cublasDiagType_t diagonal, int m, int n, const Real* alpha,       \
                                 const Real* a, int lda, Real* b, int ldb) {                       \
    return update(                                                                                 \
        handle, is_square(side == CUBLAS_SIDE_LEFT ? m : n, lda) && is_matrix(m, n, ldb) && alpha, \
        [=, alpha = Scalar(handle, alpha)] {                                                       \
          cblas_##l##trsm(CblasColMajor, side_of(side), triangle(fill), transposed(operation),     \
                          unit(diagonal), m, n, alpha.get(), a, lda, b, ldb);                      \
        });                                                                                        \
  }                                                                                                \
  cublasStatus_t cublas##L##dgmm(cublasHandle_t handle, cublasSideMode_t side, int m, int n,       \
                                 const Real* a, int lda, const Real* x, int incx, Real* c,         \
                                 int ldc) {                                                        \
    /* With a negative increment, the vector's first element is its last one in memory. */         \
    const std::ptrdiff_t size = side == CUBLAS_SIDE_LEFT ? m : n;                                  \
    const std::ptrdiff_t first = incx < 0 ? (1 - size) * incx : 0;                                 \
    return update(handle, is_matrix(m, n, lda) && is_matrix(m, n, ldc), [=] {                      \
      for (std::ptrdiff_t j = 0; j < n; ++j)                                                       \
        for (std::ptrdiff_t i = 0; i < m; ++i)                                                     \
          c[i + j * ldc] = a[i + j * lda] * x[first + (side == CUBLAS_SIDE_LEFT ? i : j) * incx];  \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##L##rot(cublasHandle_t handle, int n, Real* x, int incx, Real* y,          \
                                int incy, const Real* c, const Real* s) {                          \
    return update(handle, c && s, [=, c = Scalar(handle, c), s = Scalar(handle, s)] {              \
      cblas_##l##rot(n, x, incx, y, incy, c.get(), s.get());                                       \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##L##rotg(cublasHandle_t handle, Real* a, Real* b, Real* c, Real* s) {      \
    const cublasStatus_t status =                                                                  \
        update(handle, a && b && c && s, [=] { cblas_##l##rotg(a, b, c, s); });                    \
    if (status == CUBLAS_STATUS_SUCCESS && handle->mode == CUBLAS_POINTER_MODE_HOST &&             \
        cudaStreamSynchronize(handle->stream) != cudaSuccess)                                      \
      return CUBLAS_STATUS_EXECUTION_FAILED;                                                       \
    return status;                                                                                 \
  }
FUNCTIONS(S, s, float)
FUNCTIONS(D, d, double)
