// What the functions of cuBLAS share: scalars, checks of arguments, and OpenBLAS's enumerators.
#pragma once

#include <cblas.h>

#include <algorithm>

#include "context.h"

namespace hostcuda {

// A scalar argument. If the scalar is in host memory, its value is stored at once. If the scalar is
// in device memory, only its address is stored, and the value is read later. `pointer` may be null
// if the call is going to fail.
template <class Real>
class Scalar {
 public:
  Scalar(cublasHandle_t handle, const Real* pointer)
      : pointer_(pointer), is_device_(handle && handle->mode == CUBLAS_POINTER_MODE_DEVICE) {
    if (pointer && !is_device_) value_ = *pointer;
  }
  Real get() const { return is_device_ ? *pointer_ : value_; }

 private:
  const Real* pointer_;
  bool is_device_;
  Real value_{};
};

template <class Work>
cublasStatus_t update(cublasHandle_t handle, bool is_valid, const Work& work) {
  if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
  return is_valid ? enqueue(handle, work) : CUBLAS_STATUS_INVALID_VALUE;
}

inline CBLAS_TRANSPOSE transposed(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

inline bool is_product(cublasOperation_t operation_a, cublasOperation_t operation_b, int m, int n,
                       int k, int lda, int ldb, int ldc, int count, const void* alpha,
                       const void* beta) {
  const int rows_a = operation_a == CUBLAS_OP_N ? m : k,
            rows_b = operation_b == CUBLAS_OP_N ? k : n;
  return m >= 0 && n >= 0 && k >= 0 && count >= 0 && lda >= std::max(1, rows_a) &&
         ldb >= std::max(1, rows_b) && ldc >= std::max(1, m) && alpha && beta;
}

}  // namespace hostcuda
