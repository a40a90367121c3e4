// Reports a failed call of a CUDA library as an exception that names the call.
#pragma once

namespace nbody {

// `error` is the library's name for the error; `more` is the rest of the message. Not inline,
// because compiling the strings takes as long as compiling a step's kernels.
[[noreturn]] void cuda_failed(const char* error, const char* more, const char* expression,
                              const char* file, int line);

}  // namespace nbody
