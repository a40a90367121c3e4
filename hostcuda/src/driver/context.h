// Contexts. A context is a device and a set of flags, because all contexts of a device share its
// memory here. A context that was destroyed stays in memory, because it may be current in another
// host thread, whose calls then fail.
#ifndef HOSTCUDA_SRC_DRIVER_CONTEXT_H
#define HOSTCUDA_SRC_DRIVER_CONTEXT_H

#include "driver/call.h"

struct CUctx_st {
  int device;
  unsigned flags;
  unsigned long long id;
  unsigned retained = 0;  // of a primary context: how often cuDevicePrimaryCtxRetain was called
  bool is_primary = false, is_destroyed = false;
};

namespace hostcuda {

// Returns the calling host thread's context, or null.
CUcontext current_context();
// Returns the error of a call that needs a current context, or CUDA_SUCCESS if the host thread has
// one that was not destroyed.
CUresult error_of_context();
// True if the handle is a context that was not destroyed.
bool is_context(CUcontext context);

}  // namespace hostcuda

// HOSTCUDA_DRIVER_CALL for functions that need a current context.
#define HOSTCUDA_CONTEXT_CALL \
  HOSTCUDA_DRIVER_CALL;       \
  if (const CUresult context_error = ::hostcuda::error_of_context()) return context_error

#endif
