// What API functions do if a kernel calls them (dynamic parallelism). They must not take the API's
// lock, because the host thread that runs the kernel's grid holds it. Defined in ../launch.
#ifndef HOSTCUDA_SRC_RUNTIME_KERNEL_CALLS_H
#define HOSTCUDA_SRC_RUNTIME_KERNEL_CALLS_H

#include "hostcuda/device_functions.h"
#include "hostcuda/runtime_api.h"

namespace hostcuda::in_kernels {

// The last error of the running emulated thread.
cudaError_t& last_error();
int device();  // the device on which the kernel runs

// caller: the return address of the call, for messages.
cudaError_t allocate(void** pointer, std::size_t size, const void* caller);
cudaError_t release(void* pointer, const void* caller);
cudaError_t create_stream(cudaStream_t* stream, unsigned flags);
cudaError_t destroy_stream(cudaStream_t stream);
cudaError_t create_event(cudaEvent_t* event, unsigned flags);
cudaError_t destroy_event(cudaEvent_t event);
cudaError_t record(cudaEvent_t event, cudaStream_t stream);
cudaError_t wait(cudaStream_t stream, cudaEvent_t event);
cudaError_t copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                 cudaStream_t stream);
cudaError_t fill(void* to, int value, std::size_t size, cudaStream_t stream);

}  // namespace hostcuda::in_kernels

// The first statement of a function that does something else in a kernel:
// HOSTCUDA_IN_KERNEL(function(arguments));
#define HOSTCUDA_IN_KERNEL(...) \
  if (::hostcuda::in_kernel()) return ::hostcuda::in_kernels::__VA_ARGS__

#endif
