// The driver API is not emulated. Programs that include its header for the runtime's sake compile.
#include "cuda_runtime.h"
