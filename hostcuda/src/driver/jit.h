// The options of functions that load or link modules. Only those for messages and times have an
// effect.
#ifndef HOSTCUDA_SRC_DRIVER_JIT_H
#define HOSTCUDA_SRC_DRIVER_JIT_H

#include <string>

#include "cuda.h"

namespace hostcuda {

struct JitOptions {
  unsigned count;
  const CUjit_option* options;
  void** values;
};

// False if there are options without an array of them.
bool is_valid(const JitOptions& options);
// Writes the sentence to the buffer for errors, if the program has given one, and empties the other
// buffer. Sets the options that are results: the sizes of the messages and the time.
void answer(const JitOptions& options, const std::string& error);

}  // namespace hostcuda

#endif
