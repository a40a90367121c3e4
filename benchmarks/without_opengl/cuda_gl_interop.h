// Replaces the toolkit's header of this name, which would include OpenGL's headers. To draw in a
// window, the sample calls functions of the CUDA runtime that hostcuda lacks: see below.
#pragma once
#include <cuda_runtime.h>

#if defined(__HOSTCUDA__)
struct cudaGraphicsResource;
enum { cudaGraphicsMapFlagsReadOnly, cudaGraphicsMapFlagsWriteDiscard };
template <class... Arguments>
cudaError_t no_window(Arguments...) {
  return cudaErrorNotSupported;
}
#define cudaGraphicsResourceSetMapFlags no_window
#define cudaGraphicsMapResources no_window
#define cudaGraphicsResourceGetMappedPointer no_window
#define cudaGraphicsUnmapResources no_window
#endif
