// The names and texts of the driver API's errors, and the driver's initialisation.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "driver/call.h"
#include "support/config.h"

namespace hostcuda {
namespace {

static_assert(CUDA_VERSION == CUDART_VERSION);

std::atomic<bool> is_initialised = false;

struct Name {
  CUresult error;
  const char* name;
};
#define NAME(error) \
  { error, #error }
constexpr Name kNames[] = {
    NAME(CUDA_SUCCESS),
    NAME(CUDA_ERROR_INVALID_VALUE),
    NAME(CUDA_ERROR_OUT_OF_MEMORY),
    NAME(CUDA_ERROR_NOT_INITIALIZED),
    NAME(CUDA_ERROR_DEINITIALIZED),
    NAME(CUDA_ERROR_PROFILER_DISABLED),
    NAME(CUDA_ERROR_PROFILER_NOT_INITIALIZED),
    NAME(CUDA_ERROR_PROFILER_ALREADY_STARTED),
    NAME(CUDA_ERROR_PROFILER_ALREADY_STOPPED),
    NAME(CUDA_ERROR_STUB_LIBRARY),
    NAME(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER),
    NAME(CUDA_ERROR_DEVICE_UNAVAILABLE),
    NAME(CUDA_ERROR_NO_DEVICE),
    NAME(CUDA_ERROR_INVALID_DEVICE),
    NAME(CUDA_ERROR_DEVICE_NOT_LICENSED),
    NAME(CUDA_ERROR_INVALID_IMAGE),
    NAME(CUDA_ERROR_INVALID_CONTEXT),
    NAME(CUDA_ERROR_CONTEXT_ALREADY_CURRENT),
    NAME(CUDA_ERROR_MAP_FAILED),
    NAME(CUDA_ERROR_UNMAP_FAILED),
    NAME(CUDA_ERROR_ARRAY_IS_MAPPED),
    NAME(CUDA_ERROR_ALREADY_MAPPED),
    NAME(CUDA_ERROR_NO_BINARY_FOR_GPU),
    NAME(CUDA_ERROR_ALREADY_ACQUIRED),
    NAME(CUDA_ERROR_NOT_MAPPED),
    NAME(CUDA_ERROR_NOT_MAPPED_AS_ARRAY),
    NAME(CUDA_ERROR_NOT_MAPPED_AS_POINTER),
    NAME(CUDA_ERROR_ECC_UNCORRECTABLE),
    NAME(CUDA_ERROR_UNSUPPORTED_LIMIT),
    NAME(CUDA_ERROR_CONTEXT_ALREADY_IN_USE),
    NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED),
    NAME(CUDA_ERROR_INVALID_PTX),
    NAME(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT),
    NAME(CUDA_ERROR_NVLINK_UNCORRECTABLE),
    NAME(CUDA_ERROR_JIT_COMPILER_NOT_FOUND),
    NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
    NAME(CUDA_ERROR_JIT_COMPILATION_DISABLED),
    NAME(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY),
    NAME(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC),
    NAME(CUDA_ERROR_CONTAINED),
    NAME(CUDA_ERROR_INVALID_SOURCE),
    NAME(CUDA_ERROR_FILE_NOT_FOUND),
    NAME(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND),
    NAME(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED),
    NAME(CUDA_ERROR_OPERATING_SYSTEM),
    NAME(CUDA_ERROR_INVALID_HANDLE),
    NAME(CUDA_ERROR_ILLEGAL_STATE),
    NAME(CUDA_ERROR_LOSSY_QUERY),
    NAME(CUDA_ERROR_NOT_FOUND),
    NAME(CUDA_ERROR_NOT_READY),
    NAME(CUDA_ERROR_ILLEGAL_ADDRESS),
    NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
    NAME(CUDA_ERROR_LAUNCH_TIMEOUT),
    NAME(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING),
    NAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED),
    NAME(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED),
    NAME(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE),
    NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    NAME(CUDA_ERROR_ASSERT),
    NAME(CUDA_ERROR_TOO_MANY_PEERS),
    NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
    NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    NAME(CUDA_ERROR_HARDWARE_STACK_ERROR),
    NAME(CUDA_ERROR_ILLEGAL_INSTRUCTION),
    NAME(CUDA_ERROR_MISALIGNED_ADDRESS),
    NAME(CUDA_ERROR_INVALID_ADDRESS_SPACE),
    NAME(CUDA_ERROR_INVALID_PC),
    NAME(CUDA_ERROR_LAUNCH_FAILED),
    NAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE),
    NAME(CUDA_ERROR_TENSOR_MEMORY_LEAK),
    NAME(CUDA_ERROR_NOT_PERMITTED),
    NAME(CUDA_ERROR_NOT_SUPPORTED),
    NAME(CUDA_ERROR_SYSTEM_NOT_READY),
    NAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH),
    NAME(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE),
    NAME(CUDA_ERROR_MPS_CONNECTION_FAILED),
    NAME(CUDA_ERROR_MPS_RPC_FAILURE),
    NAME(CUDA_ERROR_MPS_SERVER_NOT_READY),
    NAME(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED),
    NAME(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED),
    NAME(CUDA_ERROR_MPS_CLIENT_TERMINATED),
    NAME(CUDA_ERROR_CDP_NOT_SUPPORTED),
    NAME(CUDA_ERROR_CDP_VERSION_MISMATCH),
    NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
    NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
    NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE),
    NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED),
    NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
    NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION),
    NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT),
    NAME(CUDA_ERROR_CAPTURED_EVENT),
    NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD),
    NAME(CUDA_ERROR_TIMEOUT),
    NAME(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE),
    NAME(CUDA_ERROR_EXTERNAL_DEVICE),
    NAME(CUDA_ERROR_INVALID_CLUSTER_SIZE),
    NAME(CUDA_ERROR_FUNCTION_NOT_LOADED),
    NAME(CUDA_ERROR_INVALID_RESOURCE_TYPE),
    NAME(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION),
    NAME(CUDA_ERROR_KEY_ROTATION),
    NAME(CUDA_ERROR_UNKNOWN),
};
#undef NAME

// CUDA's texts for errors that the runtime API does not return.
constexpr Name kTexts[] = {
    {CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed"},
    {CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid"},
    {CUDA_ERROR_FILE_NOT_FOUND, "file not found"},
    {CUDA_ERROR_NOT_FOUND, "named symbol not found"},
    {CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "shared object symbol not found"},
    {CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "shared object initialization failed"},
    {CUDA_ERROR_OPERATING_SYSTEM, "OS call failed or operation not supported on this OS"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "no kernel image is available for execution on the device"},
    {CUDA_ERROR_DEINITIALIZED, "driver shutting down"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed"},
    {CUDA_ERROR_ALREADY_MAPPED, "resource already mapped"},
    {CUDA_ERROR_NOT_MAPPED, "resource not mapped"},
};

const char* find(const Name* begin, const Name* end, CUresult error) {
  const Name* const found =
      std::find_if(begin, end, [error](const Name& name) { return name.error == error; });
  return found == end ? nullptr : found->name;
}

const char* name_of(CUresult error) { return find(std::begin(kNames), std::end(kNames), error); }

// Turns CUDA_ERROR_UNMAP_FAILED into "unmap failed".
const char* text_from_name(CUresult error) {
  static auto* texts = new std::map<CUresult, std::string>;
  const std::lock_guard lock(api_mutex());
  std::string& text = (*texts)[error];
  if (!text.empty()) return text.c_str();
  for (const char* c = name_of(error) + std::strlen("CUDA_ERROR_"); *c; ++c)
    text += *c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  return text.c_str();
}

const char* text_of(CUresult error) {
  if (const char* text = find(std::begin(kTexts), std::end(kTexts), error)) return text;
  const auto same = static_cast<cudaError_t>(error);  // most errors have the same number
  if (result_of(same) == error && std::strcmp(cudaGetErrorName(same), "unrecognized error code"))
    return cudaGetErrorString(same);
  return text_from_name(error);
}

}  // namespace

bool driver_is_initialised() { return is_initialised || program_uses_runtime(); }

// The other errors have the same numbers in both APIs.
CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidTexture:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(error);
  }
}

void explain(const char* function, const std::string& sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "hostcuda: %s: %s\n", function, sentence.c_str());
}

}  // namespace hostcuda

using namespace hostcuda;

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = name_of(error);
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = name_of(error) ? text_of(error) : nullptr;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (config().devices == 0) return CUDA_ERROR_NO_DEVICE;
  is_initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
