#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "context.h"

namespace {

// OpenBLAS keeps a buffer of 128 MB of address space. Where it cannot get one (ulimit -v), it asks
// again for ever, and so do its threads, for which exit() waits.
void require_memory_of_openblas() {
  constexpr std::size_t kEnough = std::size_t{160} << 20;
  void* const probe = mmap(nullptr, kEnough, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (probe == MAP_FAILED) {
    std::perror("hostcuda: no memory for OpenBLAS");
    std::abort();
  }
  munmap(probe, kEnough);
  constexpr int kRows = 4096;  // enough for it to take the buffer now
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
    default:
      return "unknown status";  // none that hostcuda returns
  }
}

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  // The library makes its context with calls of the runtime, which may fail.
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

cublasStatus_t copy_elements(int n, int size, const void* from, int from_step, void* to,
                             int to_step) {
  if (n < 0 || size <= 0 || from_step <= 0 || to_step <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<std::size_t>(size);
  const cudaError_t error = cudaMemcpy2D(to, bytes * static_cast<std::size_t>(to_step), from,
                                         bytes * static_cast<std::size_t>(from_step), bytes,
                                         static_cast<std::size_t>(n), cudaMemcpyDefault);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

cublasStatus_t cublasSetVector(int n, int size, const void* host, int incx, void* device,
                               int incy) {
  return copy_elements(n, size, host, incx, device, incy);
}

cublasStatus_t cublasGetVector(int n, int size, const void* device, int incx, void* host,
                               int incy) {
  return copy_elements(n, size, device, incx, host, incy);
}

namespace {

cublasStatus_t copy_matrix(int rows, int columns, int size, const void* from, int from_rows,
                           void* to, int to_rows) {
  if (rows < 0 || columns < 0 || size <= 0 || from_rows < rows || to_rows < rows)
    return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<std::size_t>(size);
  const cudaError_t error = cudaMemcpy2D(to, bytes * static_cast<std::size_t>(to_rows), from,
                                         bytes * static_cast<std::size_t>(from_rows),
                                         bytes * static_cast<std::size_t>(rows),
                                         static_cast<std::size_t>(columns), cudaMemcpyDefault);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

}  // namespace

cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* host, int lda,
                               void* device, int ldb) {
  return copy_matrix(rows, columns, size, host, lda, device, ldb);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* device, int lda,
                               void* host, int ldb) {
  return copy_matrix(rows, columns, size, device, lda, host, ldb);
}
