// The driver API is not emulated. A program that includes this header but calls only the runtime
// API still compiles.
#include "cuda_runtime.h"
