#include "nbody/cuda_failed.h"

#include <stdexcept>
#include <string>

namespace nbody {

void cuda_failed(const char* error, const char* more, const char* expression, const char* file,
                 int line) {
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + expression +
                           ": " + error + (*more == '\0' ? "" : ": ") + more);
}

}  // namespace nbody
