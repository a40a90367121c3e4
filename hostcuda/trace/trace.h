// The one tracer of a process.
#ifndef HOSTCUDA_TRACE_TRACE_H
#define HOSTCUDA_TRACE_TRACE_H

#include "tracer.h"

namespace hostcuda::trace {

// Null where nothing is traced.
extern Tracer* tracer;

// Traces from now on. When the process ends, the record is written to the file that the variable
// HOSTCUDA_TRACE names; without that variable nothing is traced.
void start();

}  // namespace hostcuda::trace

#endif
