// Contexts. A context is a device and a set of flags, because all contexts of a device share its
// memory here.
#ifndef HOSTCUDA_SRC_DRIVER_CONTEXT_H
#define HOSTCUDA_SRC_DRIVER_CONTEXT_H

#include "driver/call.h"

struct CUctx_st {
  int device;
  unsigned flags;
  unsigned long long id;
  unsigned retained = 0;  // of a primary context: how often cuDevicePrimaryCtxRetain was called
  bool is_primary = false;
};

namespace hostcuda {

// Returns the calling host thread's context, or null.
CUcontext current_context();
// True if the handle is a context that was not destroyed.
bool is_context(CUcontext context);

}  // namespace hostcuda

// HOSTCUDA_DRIVER_CALL for functions that need a current context.
#define HOSTCUDA_CONTEXT_CALL \
  HOSTCUDA_DRIVER_CALL;       \
  if (!::hostcuda::current_context()) return CUDA_ERROR_INVALID_CONTEXT

#endif
