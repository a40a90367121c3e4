// Streams and events.
#include "runtime/stream.h"

#include "driver/context.h"

using namespace hostcuda;

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamCreateWithFlags(stream, flags));
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamCreateWithPriority(stream, flags, priority));
}

CUresult cuStreamDestroy(CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamDestroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamSynchronize(stream));
}

CUresult cuStreamQuery(CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamQuery(stream));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamWaitEvent(stream, event, flags));
}

namespace {

// The callback gets its status as a CUresult, so it is called by a function with the runtime API's
// type.
struct Callback {
  CUstreamCallback function;
  void* data;
};
void call_back(cudaStream_t stream, cudaError_t status, void* data) {
  const Callback callback = *static_cast<Callback*>(data);
  delete static_cast<Callback*>(data);
  callback.function(stream, result_of(status), callback.data);
}

}  // namespace

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback function, void* data,
                             unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  auto* callback = new Callback{function, data};
  const cudaError_t error = cudaStreamAddCallback(stream, call_back, callback, flags);
  if (error) delete callback;
  return result_of(error);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamGetFlags(stream, flags));
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamGetPriority(stream, priority));
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  HOSTCUDA_CONTEXT_CALL;
  const CUstream_st* stream = find_stream(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!device) return CUDA_ERROR_INVALID_VALUE;
  *device = stream->device;
  return CUDA_SUCCESS;
}

// Contexts of one device share everything, so the current context serves for its device's streams.
CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  HOSTCUDA_CONTEXT_CALL;
  const CUstream_st* stream = find_stream(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  if (stream->device != current_context()->device) return CUDA_ERROR_INVALID_CONTEXT;
  *context = current_context();
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, std::size_t size,
                                unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaStreamAttachMemAsync(stream, pointer_of(pointer), size, flags));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaLaunchHostFunc(stream, function, data));
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaEventCreateWithFlags(event, flags));
}

CUresult cuEventDestroy(CUevent event) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaEventDestroy(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaEventRecord(event, stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  return cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent event) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaEventSynchronize(event));
}

CUresult cuEventQuery(CUevent event) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaEventQuery(event));
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  HOSTCUDA_CONTEXT_CALL;
  return result_of(cudaEventElapsedTime(milliseconds, start, end));
}
