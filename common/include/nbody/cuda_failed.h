// How a call of a CUDA library that failed ends: with an exception, which names it.
#pragma once

namespace nbody {

// `error` is what the library calls the error, `more` what else it says of it. Not inline: its
// texts take the compiler as long as the kernels of a step.
[[noreturn]] void cuda_failed(const char* error, const char* more, const char* expression,
                              const char* file, int line);

}  // namespace nbody
