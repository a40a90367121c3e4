// Every API function starts with these: the lock, failures planned by the environment, and the last
// error.
#ifndef HOSTCUDA_SRC_RUNTIME_API_H
#define HOSTCUDA_SRC_RUNTIME_API_H

#include <mutex>
#include <string>

#include "cuda_runtime.h"
#include "support/source_line.h"

namespace hostcuda {

// The API call that host code makes. If an API function calls others, only the outermost call
// counts.
class CallSite {
 public:
  CallSite(const char* function, const CodePlace& place);
  ~CallSite();
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  // The call of this host thread; null outside the API.
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
// because an operation may be a host function. Only one grid may run at a time also because a
// __constant__ variable has a single address, whose content must belong to the device whose kernel
// runs.
class ApiCall {
 public:
  // function: the name of the API function; place: where it is called.
  explicit ApiCall(const char* function, const CodePlace& place = {});
  // Why the call cannot be made: there is no device, or the environment requests a failure
  // (cudaErrorUnknown for one call, cudaErrorDevicesUnavailable for all calls from one on). Counts
  // the call. A launch is a call too; querying the last error is not.
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

// The result of a call that waited for kernels: the error of one that broke the context, if any.
cudaError_t result_of_waiting();

// The API is for host code. Every call invokes this function, which does not return if the caller
// is a kernel.
void refuse_kernels_with(void (*check)(const char* function, const void* code));

}  // namespace hostcuda

#define HOSTCUDA_API_CALL                                                      \
  const ::hostcuda::ApiCall api_call(__func__, {__builtin_return_address(0)}); \
  if (const cudaError_t api_error = api_call.error()) return ::hostcuda::fail(api_error)

// For API functions that only call other API functions.
#define HOSTCUDA_API_CALL_OF_OTHERS \
  const ::hostcuda::CallSite call_site(__func__, {__builtin_return_address(0)})

#endif
