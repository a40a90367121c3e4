// Declares only cuBLASLt's handle, for programs that have a variable of this type. The matrix
// products are not emulated, so a program that calls them does not link.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cublas_v2.h"

using cublasLtHandle_t = struct cublasLtContext*;
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
