#include "driver/context.h"

#include <set>
#include <vector>

#include "runtime/device.h"
#include "support/config.h"

namespace hostcuda {
namespace {

thread_local std::vector<CUcontext> stack;

std::set<CUcontext>& contexts() {
  static auto* set = new std::set<CUcontext>;
  return *set;
}

CUcontext make_context(int device, unsigned flags) {
  static unsigned long long last_id = 0;
  auto* context = new CUctx_st{device, flags, ++last_id};
  contexts().insert(context);
  return context;
}

// Primary contexts are never destroyed, so their handles stay valid.
CUcontext primary_context(int device) {
  static auto* list = new std::vector<CUcontext>(static_cast<std::size_t>(config().devices));
  CUcontext& primary = (*list)[static_cast<std::size_t>(device)];
  if (!primary) {
    primary = make_context(device, 0);
    primary->is_primary = true;
  }
  return primary;
}

// The device of the host thread's context is the device of its calls of the runtime API.
void use_device_of_top() {
  if (!stack.empty()) set_current_device(stack.back()->device);
}

CUresult create_context(CUcontext* context, unsigned flags, CUdevice device) {
  if (!context || (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)))
    return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = make_context(device, flags);
  stack.push_back(*context);
  use_device_of_top();
  return CUDA_SUCCESS;
}

}  // namespace

CUcontext current_context() {
  // cudaSetDevice makes the primary context of another device current.
  const int device = current_device();
  if (!stack.empty() && stack.back()->device == device) return stack.back();
  return thread_uses_runtime() || !stack.empty() ? primary_context(device) : nullptr;
}

CUresult error_of_context() {
  const CUcontext context = current_context();
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  return context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

bool is_context(CUcontext context) {
  return contexts().contains(context) && !context->is_destroyed;
}

}  // namespace hostcuda

using namespace hostcuda;

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  return create_context(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  return create_context(context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) {
  HOSTCUDA_DRIVER_CALL;
  if (!is_context(context) || context->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty() && stack.back() == context) {
    stack.pop_back();
    use_device_of_top();
  }
  std::erase(stack, context);
  context->is_destroyed = true;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  HOSTCUDA_DRIVER_CALL;
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  stack.push_back(context);
  use_device_of_top();
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  HOSTCUDA_DRIVER_CALL;  // a context that was destroyed can leave the stack too
  if (!current_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = current_context();
  if (!stack.empty()) stack.pop_back();
  use_device_of_top();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  HOSTCUDA_DRIVER_CALL;
  if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
  use_device_of_top();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  HOSTCUDA_DRIVER_CALL;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  HOSTCUDA_CONTEXT_CALL;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = current_context()->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned* flags) {
  HOSTCUDA_CONTEXT_CALL;
  if (!flags) return CUDA_ERROR_INVALID_VALUE;
  *flags = current_context()->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  HOSTCUDA_DRIVER_CALL;
  if (!context) context = current_context();
  if (!is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!id) return CUDA_ERROR_INVALID_VALUE;
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  HOSTCUDA_DRIVER_CALL;
  if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaDeviceSynchronize());
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value));
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)));
}

CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  HOSTCUDA_CONTEXT_CALL;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  HOSTCUDA_CONTEXT_CALL;
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_FUNC_CACHE_PREFER_NONE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  HOSTCUDA_CONTEXT_CALL;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  HOSTCUDA_CONTEXT_CALL;
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaDeviceGetStreamPriorityRange(least, greatest));
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  if (!is_context(peer)) return CUDA_ERROR_INVALID_CONTEXT;
  return result_of(cudaDeviceEnablePeerAccess(peer->device, flags));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  HOSTCUDA_CONTEXT_CALL;
  if (!is_context(peer)) return CUDA_ERROR_INVALID_CONTEXT;
  return result_of(cudaDeviceDisablePeerAccess(peer->device));
}

// ---- primary contexts ---------------------------------------------------------------------------

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = primary_context(device);
  ++(*context)->retained;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  CUcontext context = primary_context(device);
  if (!context->retained) return CUDA_ERROR_INVALID_CONTEXT;
  --context->retained;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  HOSTCUDA_DRIVER_CALL;
  return valid_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  HOSTCUDA_DRIVER_CALL;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  primary_context(device)->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  HOSTCUDA_DRIVER_CALL;
  if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = primary_context(device)->flags;
  *active = primary_context(device)->retained > 0 || program_uses_runtime();
  return CUDA_SUCCESS;
}
