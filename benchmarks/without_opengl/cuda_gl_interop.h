// Replaces the toolkit's header of this name, which would include OpenGL's headers. The functions
// that the sample calls to draw in a window belong to the CUDA runtime; hostcuda has none of them.
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
