#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "context.h"

namespace {

// OpenBLAS allocates a buffer that needs 128 MB of address space. If the allocation fails (ulimit
// -v), OpenBLAS and its threads retry forever, and exit() waits for these threads.
void require_memory_of_openblas() {
  constexpr std::size_t kEnough = std::size_t{160} << 20;
  void* const probe = mmap(nullptr, kEnough, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    std::perror("hostcuda: no memory for OpenBLAS");
    std::abort();
  }
  munmap(probe, kEnough);
  constexpr int kRows = 4096;  // large enough to make OpenBLAS allocate the buffer now
  const std::vector<float> column(kRows);
  std::vector<float> sum(kRows);
  const float one = 1;
  cblas_sgemv(CblasColMajor, CblasNoTrans, kRows, 1, 1, column.data(), kRows, &one, 1, 0,
              sum.data(), 1);
}

}  // namespace

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "unknown status";  // hostcuda returns no other status
  }
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  // As in cuBLAS, creating a handle makes runtime calls, which may fail.
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  require_memory_of_openblas();
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t) {
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *mode = handle->mode;
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

// `copy` is cudaMemcpy2D or cudaMemcpy2DAsync.
template <class Copy, class... Stream>
cublasStatus_t copy_matrix(const Copy& copy, int rows, int columns, int size, const void* from,
                           int lda, void* to, int ldb, Stream... stream) {
  if (rows < 0 || columns < 0 || size <= 0 || lda < rows || ldb < rows)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = [=](int count) {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
  };
  const cudaError_t error = copy(to, bytes(ldb), from, bytes(lda), bytes(rows),
                                 static_cast<std::size_t>(columns), cudaMemcpyDefault, stream...);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

// A vector is copied as a matrix that has one row.
#define COPIES(Set)                                                                              \
  cublasStatus_t cublas##Set##Vector(int n, int size, const void* from, int incx, void* to,      \
                                     int incy) {                                                 \
    return copy_matrix(cudaMemcpy2D, 1, n, size, from, incx, to, incy);                          \
  }                                                                                              \
  cublasStatus_t cublas##Set##VectorAsync(int n, int size, const void* from, int incx, void* to, \
                                          int incy, cudaStream_t stream) {                       \
    return copy_matrix(cudaMemcpy2DAsync, 1, n, size, from, incx, to, incy, stream);             \
  }                                                                                              \
  cublasStatus_t cublas##Set##Matrix(int rows, int columns, int size, const void* from, int lda, \
                                     void* to, int ldb) {                                        \
    return copy_matrix(cudaMemcpy2D, rows, columns, size, from, lda, to, ldb);                   \
  }                                                                                              \
  cublasStatus_t cublas##Set##MatrixAsync(int rows, int columns, int size, const void* from,     \
                                          int lda, void* to, int ldb, cudaStream_t stream) {     \
    return copy_matrix(cudaMemcpy2DAsync, rows, columns, size, from, lda, to, ldb, stream);      \
  }
COPIES(Set)
COPIES(Get)
