#include "runtime/api.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "support/config.h"
#include "support/observer.h"

namespace hostcuda {
namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local unsigned driver_scopes = 0;
thread_local bool uses_runtime = false;
std::atomic<bool> any_uses_runtime = false;
std::atomic<cudaError_t> context_error = cudaSuccess;
using Check = void (*)(const char* function, const void* code);
std::atomic<Check> refuse_kernel;  // read without the lock

struct Description {
  cudaError_t error;
  const char* name;
  const char* text;
};

// CUDA's names and messages for the errors that hostcuda returns, and for some errors with which
// programs compare results.
#define ERROR(error, text) \
  { error, #error, text }
constexpr Description kDescriptions[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    ERROR(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    ERROR(cudaErrorLaunchPendingCountExceeded,
          "launch would exceed maximum outstanding pending launch count"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    ERROR(cudaErrorInvalidNormSetting,
          "read as normalized float not supported for 32-bit non float type"),
    ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered,
          "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered,
          "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated,
          "operation failed due to a previous error during capture"),
    ERROR(cudaErrorStreamCaptureMerge,
          "operation would result in a merge of separate capture sequences"),
    ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ERROR(cudaErrorStreamCaptureIsolation,
          "dependency created on uncaptured work in another stream"),
    ERROR(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(cudaErrorCapturedEvent,
          "operation not permitted on an event last recorded in a capturing stream"),
    ERROR(
        cudaErrorGraphExecUpdateFailure,
        "the graph update was not performed because it included changes which violated constraints "
        "specific to instantiated graph update"),
    ERROR(cudaErrorInvalidClusterSize, "cluster misconfiguration"),
    ERROR(cudaErrorUnknown, "unknown error"),
};
#undef ERROR

const Description* describe(cudaError_t error) {
  for (const Description& description : kDescriptions)
    if (description.error == error) return &description;
  return nullptr;
}

thread_local const CallSite* current_call = nullptr;
thread_local bool next_is_ignored = false;

}  // namespace

void refuse_in_kernel(const char* function, const void* code) {
  if (const Check check = refuse_kernel) check(function, code);
}

std::recursive_mutex& api_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

RuntimeObserver* runtime_observer;

void join(Clock& clock, const Clock& other) {
  if (clock.size() < other.size()) clock.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

CallSite::CallSite(const char* function, const CodePlace& place)
    : function_(function),
      place_(place),
      result_is_ignored_(std::exchange(next_is_ignored, false)),
      is_outermost_(!current_call) {
  if (is_outermost_) current_call = this;
}

CallSite::~CallSite() {
  if (is_outermost_) current_call = nullptr;
}

const CallSite* CallSite::current() { return current_call; }

void ignore_result() { next_is_ignored = true; }

// API calls by kernels are rejected before the lock is taken, because a kernel on another
// operating-system thread would wait for the lock forever.
ApiCall::ApiCall(const char* function, const CodePlace& place)
    : lock_((refuse_in_kernel(function, place.return_address), api_mutex())),
      site_(function, place) {}

cudaError_t ApiCall::error() const {
  static std::uint64_t calls = 0;
  if (!driver_scopes) uses_runtime = any_uses_runtime = true;
  if (config().devices == 0) return cudaErrorNoDevice;
  if (context_error != cudaSuccess) return context_error;
  const std::uint64_t call = ++calls;
  if (config().lose_device != 0 && call >= config().lose_device) return cudaErrorDevicesUnavailable;
  return call == config().fail_call ? cudaErrorUnknown : cudaSuccess;
}

DriverScope::DriverScope() : last_error_(last_error) { ++driver_scopes; }

DriverScope::~DriverScope() {
  --driver_scopes;
  last_error = last_error_;
}

bool thread_uses_runtime() { return uses_runtime; }
bool program_uses_runtime() { return any_uses_runtime; }

cudaError_t fail(cudaError_t error, const std::string& reason) {
  if (in_kernel()) return in_kernels::last_error() = error;
  last_error = error;
  if (runtime_observer && error != cudaErrorNotReady) runtime_observer->failed(error, reason);
  return error;
}

void status_was_ignored(const IgnoredStatus& call, int status) {
  if (runtime_observer)
    runtime_observer->library_failed(call.function, status, {nullptr, call.file, call.line});
}

void break_context(cudaError_t error) { context_error = error; }

bool context_is_broken() { return context_error != cudaSuccess; }

cudaError_t result_of_waiting() { return context_is_broken() ? fail(context_error) : cudaSuccess; }

void refuse_kernels_with(void (*check)(const char* function, const void* code)) {
  refuse_kernel = check;
}

}  // namespace hostcuda

using namespace hostcuda;

const char* cudaGetErrorName(cudaError_t error) {
  const Description* description = describe(error);
  return description ? description->name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const Description* description = describe(error);
  return description ? description->text : "unrecognized error code";
}

cudaError_t cudaGetLastError() {
  if (in_kernel()) return std::exchange(in_kernels::last_error(), cudaSuccess);
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  HOSTCUDA_IN_KERNEL(last_error());
  if (runtime_observer) runtime_observer->asked_for_error();
  return context_error == cudaSuccess ? last_error : context_error.load();
}
