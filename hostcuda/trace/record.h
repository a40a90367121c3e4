// What a tracer saw, as JSON.
#ifndef HOSTCUDA_TRACE_RECORD_H
#define HOSTCUDA_TRACE_RECORD_H

#include <string>

#include "tracer.h"

namespace hostcuda::trace {

// Code is named by its offset in the executable, as addr2line expects it; finding the source line
// is left to the reader.
std::string record_of(const Tracer& tracer);

}  // namespace hostcuda::trace

#endif
