// The one tracer of a process.
#ifndef HOSTCUDA_TRACE_TRACE_H
#define HOSTCUDA_TRACE_TRACE_H

#include "tracer.h"

namespace hostcuda::trace {

Tracer& tracer();

// Watches from now on. When the process ends, what was seen is written to the file that the
// variable HOSTCUDA_TRACE names; without it, nothing is watched.
void start();

}  // namespace hostcuda::trace

#endif
