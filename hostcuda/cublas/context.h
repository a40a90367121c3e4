// A cuBLAS handle, and the function that appends the handle's work to its stream.
#pragma once

#include "cublas_v2.h"
#include "hostcuda/launch.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
};

namespace hostcuda {

template <class Work>
cublasStatus_t enqueue(cublasHandle_t handle, const Work& work) {
  return enqueue_work(handle->stream, work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                           : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace hostcuda
