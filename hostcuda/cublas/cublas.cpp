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

namespace {

CBLAS_TRANSPOSE transposed(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

template <class Work>
cublasStatus_t enqueue(cublasHandle_t handle, const Work& work) {
  return hostcuda::enqueue_work(handle->stream, work) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

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

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                           const float* alpha, const float* a, int lda, const float* x, int incx,
                           const float* beta, float* y, int incy) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (m < 0 || n < 0 || lda < std::max(1, m) || incx == 0 || incy == 0 || alpha == nullptr ||
      beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return enqueue(handle, [=, alpha = *alpha, beta = *beta] {
    cblas_sgemv(CblasColMajor, transposed(operation), m, n, alpha, a, lda, x, incx, beta, y, incy);
  });
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t) {
  return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float* alpha, const float* x,
                           int incx, float* y, int incy) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return enqueue(handle, [=, alpha = *alpha] { cblas_saxpy(n, alpha, x, incx, y, incy); });
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t operation_a,
                                         cublasOperation_t operation_b, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc,
                                         long long stride_c, int count) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const int rows_a = operation_a == CUBLAS_OP_N ? m : k,
            rows_b = operation_b == CUBLAS_OP_N ? k : n;
  if (m < 0 || n < 0 || k < 0 || count < 0 || lda < std::max(1, rows_a) ||
      ldb < std::max(1, rows_b) || ldc < std::max(1, m) || alpha == nullptr || beta == nullptr)
    return CUBLAS_STATUS_INVALID_VALUE;
  return enqueue(handle, [=, alpha = *alpha, beta = *beta] {
    for (int i = 0; i < count; ++i)
      cblas_sgemm(CblasColMajor, transposed(operation_a), transposed(operation_b), m, n, k, alpha,
                  a + i * stride_a, lda, b + i * stride_b, ldb, beta, c + i * stride_c, ldc);
  });
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t operation_a,
                           cublasOperation_t operation_b, int m, int n, int k, const float* alpha,
                           const float* a, int lda, const float* b, int ldb, const float* beta,
                           float* c, int ldc) {
  return cublasSgemmStridedBatched(handle, operation_a, operation_b, m, n, k, alpha, a, lda, 0, b,
                                   ldb, 0, beta, c, ldc, 0, 1);
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
