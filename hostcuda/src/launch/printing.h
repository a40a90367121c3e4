// printf of host code and kernels.
#ifndef HOSTCUDA_SRC_LAUNCH_PRINTING_H
#define HOSTCUDA_SRC_LAUNCH_PRINTING_H

#include <cstdarg>

namespace hostcuda {

// In a kernel, returns the number of arguments, or -1 without a format; in host code, the number of
// characters.
int print(const char* format, va_list arguments);

}  // namespace hostcuda

#endif
