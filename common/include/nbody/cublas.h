// Owns a cuBLAS handle, and turns cuBLAS's error codes into exceptions.
#pragma once

#include <cublas_v2.h>

#include <utility>

#include "nbody/cuda.h"
#include "nbody/error.h"

#define CUBLAS_CHECK(expression)                                                                \
  do {                                                                                          \
    const cublasStatus_t cublas_check_status = (expression);                                    \
    if (cublas_check_status != CUBLAS_STATUS_SUCCESS) {                                         \
      ::nbody::cuda_failed(cublasGetStatusName(cublas_check_status), "", #expression, __FILE__, \
                           __LINE__);                                                           \
    }                                                                                           \
  } while (0)

namespace nbody {

// Converts a number of rows or columns to the type that cuBLAS takes.
inline int cublas_size(std::size_t size) {
  if (std::in_range<int>(size)) return static_cast<int>(size);
  throw UsageError(size, " rows or columns are too many: cuBLAS counts them in an int");
}

// A cuBLAS context on the current device; its calls run in the default stream.
class Cublas {
 public:
  Cublas() {
    cublasHandle_t handle = nullptr;
    CUBLAS_CHECK(cublasCreate(&handle));
    handle_.reset(handle);
  }
  cublasHandle_t get() const { return handle_.get(); }

 private:
  Owner<cublasHandle_t, cublasDestroy> handle_;
};

}  // namespace nbody
