#include "nbody/cuda_failed.h"

#include "nbody/error.h"

namespace nbody {

void cuda_failed(const char* error, const char* more, const char* expression, const char* file,
                 int line) {
  const char* const between = *more == '\0' ? "" : ": ";
  throw std::runtime_error(joined(file, ":", line, ": ", expression, ": ", error, between, more));
}

}  // namespace nbody
