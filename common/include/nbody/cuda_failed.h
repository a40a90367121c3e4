// Reports a failed call of a CUDA library as an exception whose message contains the call.
#pragma once

namespace nbody {

// `error` is the library's name for the error; `more` is the rest of the message. The function is
// not inline, because compiling its strings would take as long as compiling a step's kernels.
[[noreturn]] void cuda_failed(const char* error, const char* more, const char* expression,
                              const char* file, int line);

}  // namespace nbody
