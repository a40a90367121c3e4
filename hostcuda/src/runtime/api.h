// What every API function begins with: the lock, the failures that the environment plans, and the
// last error.
#ifndef HOSTCUDA_SRC_RUNTIME_API_H
#define HOSTCUDA_SRC_RUNTIME_API_H

#include <mutex>

#include "cuda_runtime.h"

namespace hostcuda {

// One lock for everything, held by the host thread whose call makes an operation run; recursive,
// because an operation may be a host function. Running one grid at a time is not only simpler:
// __constant__ variables have a single address, and its content must be that of the device whose
// kernel runs.
class ApiCall {
 public:
  // function: the name of the API function.
  explicit ApiCall(const char* function);
  // Why the call cannot be made: there is no device, or the environment asks for a failure
  // (cudaErrorUnknown for one call, cudaErrorDevicesUnavailable for all calls from one on). Counts
  // the call. A launch is a call too; asking for the last error is not.
  cudaError_t error() const;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

// Records the host thread's last error and returns it: `return fail(...)`.
cudaError_t fail(cudaError_t error);

// A kernel failed an assertion or trapped: its blocks end, and from now on every call returns this
// error, as on a GPU.
void break_context(cudaError_t error);
bool context_is_broken();

// What a call returns that has waited for kernels: their error, if the context broke meanwhile.
cudaError_t result_of_waiting();

// The API is for host code. This function is asked at every call whether a kernel makes it, and
// then does not return.
void refuse_kernels_with(void (*check)(const char* function));

}  // namespace hostcuda

#define HOSTCUDA_API_CALL                       \
  const ::hostcuda::ApiCall api_call(__func__); \
  if (const cudaError_t api_error = api_call.error()) return ::hostcuda::fail(api_error)

#endif
