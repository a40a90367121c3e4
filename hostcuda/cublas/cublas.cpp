#include <cblas.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "cublas_v2.h"
#include "hostcuda/launch.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
};

// OpenBLAS keeps a buffer of 128 MB of address space. Where it cannot get one (ulimit -v), it asks
// again for ever, and so do its threads, for which exit() waits.
static void require_memory_of_openblas() {
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
  }
  return "unknown status";
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

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                           const float* alpha, const float* a, int lda, const float* x, int incx,
                           const float* beta, float* y, int incy) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0 || alpha == nullptr ||
      beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const CBLAS_TRANSPOSE transpose = operation == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
  const auto work = [=, alpha = *alpha, beta = *beta] {
    cblas_sgemv(CblasColMajor, transpose, m, n, alpha, a, lda, x, incx, beta, y, incy);
  };
  return hostcuda::enqueue_work(handle->stream, work) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}
