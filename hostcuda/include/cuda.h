// The driver API is not emulated. Programs that include its header only for the runtime compile.
#include "cuda_runtime.h"
