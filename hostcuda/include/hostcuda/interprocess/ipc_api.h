// hostcuda: memory and events that several processes of one user share. A process that opens a
// handle must not outlive the process that made the handle. In a traced program these functions
// return cudaErrorNotSupported, because the tracer does not see what another process writes.
#pragma once

#include "../runtime_api.h"

constexpr unsigned cudaEventInterprocess = 4;  // needs cudaEventDisableTiming
constexpr unsigned cudaIpcMemLazyEnablePeerAccess = 1;
typedef struct cudaIpcMemHandle_st {
  char reserved[64];
} cudaIpcMemHandle_t;
typedef struct cudaIpcEventHandle_st {
  char reserved[64];
} cudaIpcEventHandle_t;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory);
cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void* memory);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);
