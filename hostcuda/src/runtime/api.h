// The first statement of every API function. It takes the lock, makes the call fail if the
// environment requests a failure (HOSTCUDA_FAIL_CALL), and handles the last error.
#ifndef HOSTCUDA_SRC_RUNTIME_API_H
#define HOSTCUDA_SRC_RUNTIME_API_H

#include <mutex>
#include <optional>
#include <string>

#include "cuda_runtime.h"
#include "runtime/kernel_calls.h"
#include "support/source_line.h"

namespace hostcuda {

// The API call that host code makes. If one API function calls another, only the outermost call
// counts.
class CallSite {
 public:
  CallSite(const char* function, const CodePlace& place);
  ~CallSite();
  CallSite(const CallSite&) = delete;
  CallSite& operator=(const CallSite&) = delete;

  // Returns the API call that this host thread is making, or null.
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

// There is one lock for the whole API, held by the host thread whose call makes an operation run.
// The lock is recursive, because an operation may be a host function. The lock also lets only one
// grid run at a time: a __constant__ variable has the same address on all devices, so it must hold
// the content for the running device.
class ApiCall {
 public:
  // function: the name of the API function; place: where the program calls it.
  explicit ApiCall(const char* function, const CodePlace& place = {});
  // Returns the error with which the call must fail, because there is no device or because the
  // environment requests a failure: cudaErrorUnknown for a single call, or
  // cudaErrorDevicesUnavailable for one call and all later ones. Counts calls, including launches
  // but not queries of the last error.
  cudaError_t error() const;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  CallSite site_;
};

// Stores `error` as the host thread's last error and returns it: `return fail(...)`. reason:
// describes the mistake in the program's terms, for an observer.
cudaError_t fail(cudaError_t error, const std::string& reason = "");

// The driver API's functions return their errors and do not change the last error. While an object
// of this class exists, the host thread makes a call of the driver API.
class DriverScope {
 public:
  DriverScope();
  ~DriverScope();
  DriverScope(const DriverScope&) = delete;
  DriverScope& operator=(const DriverScope&) = delete;

 private:
  cudaError_t last_error_;
};
// True if this host thread, or any host thread, has called the runtime API.
bool thread_uses_runtime();
bool program_uses_runtime();

// Called when a kernel fails an assertion or traps. As on a GPU, the kernel's blocks end, and every
// later call returns this error.
void break_context(cudaError_t error);
bool context_is_broken();

std::recursive_mutex& api_mutex();

// Returns the result of a call that waited for kernels: an error if a kernel broke the context.
cudaError_t result_of_waiting();

// Ends the program if a kernel calls a function that is only for host code.
void refuse_in_kernel(const char* function, const void* code);

// Only host code may call most functions of the API. Therefore every such call runs `check`, which
// does not return if the caller is a kernel.
void refuse_kernels_with(void (*check)(const char* function, const void* code));

}  // namespace hostcuda

#define HOSTCUDA_API_CALL HOSTCUDA_API_CALL_NAMED(__func__)
// For a function that implements functions of the API with other names.
#define HOSTCUDA_API_CALL_NAMED(name)                                      \
  const ::hostcuda::ApiCall api_call(name, {__builtin_return_address(0)}); \
  if (const cudaError_t api_error = api_call.error()) return ::hostcuda::fail(api_error)

// For functions that do the same in host code and in kernels, and only read what does not change.
#define HOSTCUDA_API_CALL_ALSO_OF_KERNELS                                                    \
  std::optional<::hostcuda::ApiCall> api_call;                                               \
  if (!::hostcuda::in_kernel()) {                                                            \
    api_call.emplace(__func__, ::hostcuda::CodePlace{__builtin_return_address(0)});          \
    if (const cudaError_t api_error = api_call->error()) return ::hostcuda::fail(api_error); \
  }

// Used by API functions that only call other API functions.
#define HOSTCUDA_API_CALL_OF_OTHERS                                    \
  ::hostcuda::refuse_in_kernel(__func__, __builtin_return_address(0)); \
  HOSTCUDA_API_CALL_OF_OTHERS_ALSO_OF_KERNELS
#define HOSTCUDA_API_CALL_OF_OTHERS_ALSO_OF_KERNELS \
  const ::hostcuda::CallSite call_site(__func__, {__builtin_return_address(0)})

#endif
