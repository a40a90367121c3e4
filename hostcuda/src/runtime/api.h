// What every API function begins with: the lock, the failures that the environment plans, and the
// last error.
#ifndef HOSTCUDA_SRC_RUNTIME_API_H
#define HOSTCUDA_SRC_RUNTIME_API_H

#include <mutex>
#include <string>

#include "cuda_runtime.h"
#include "support/source_line.h"

namespace hostcuda {

// The call of the API that host code makes: a function that calls others of the API is the one that
// counts.
class CallSite {
 public:
  CallSite(const char* function, const CodePlace& place);
  ~CallSite();
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  // Of this host thread; null outside the API.
  static const CallSite* current();
  const char* function() const { return function_; }
  const CodePlace& place() const { return place_; }
  bool result_is_ignored() const { return result_is_ignored_; }

 private:
  const char* function_;
  CodePlace place_;
  bool result_is_ignored_;
  bool is_outermost_;
};

// One lock for everything, held by the host thread whose call makes an operation run; recursive,
// because an operation may be a host function. Running one grid at a time is not only simpler:
// __constant__ variables have a single address, and its content must be that of the device whose
// kernel runs.
class ApiCall {
 public:
  // function: the name of the API function; place: where it is called.
  explicit ApiCall(const char* function, const CodePlace& place = {});
  // Why the call cannot be made: there is no device, or the environment asks for a failure
  // (cudaErrorUnknown for one call, cudaErrorDevicesUnavailable for all calls from one on). Counts
  // the call. A launch is a call too; asking for the last error is not.
  cudaError_t error() const;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  CallSite site_;
};

// Records the host thread's last error and returns it: `return fail(...)`.
cudaError_t fail(cudaError_t error);

// A kernel failed an assertion or trapped: its blocks end, and from now on every call returns this
// error, as on a GPU.
void break_context(cudaError_t error);
bool context_is_broken();

std::recursive_mutex& api_mutex();

// What a call returns that has waited for kernels: their error, if the context broke meanwhile.
cudaError_t result_of_waiting();

// The API is for host code. This function is asked at every call whether a kernel makes it, and
// then does not return.
void refuse_kernels_with(void (*check)(const char* function, const void* code));

}  // namespace hostcuda

#define HOSTCUDA_API_CALL                                                      \
  const ::hostcuda::ApiCall api_call(__func__, {__builtin_return_address(0)}); \
  if (const cudaError_t api_error = api_call.error()) return ::hostcuda::fail(api_error)

// For a function of the API that only calls others.
#define HOSTCUDA_API_CALL_OF_OTHERS \
  const ::hostcuda::CallSite call_site(__func__, {__builtin_return_address(0)})

#endif
