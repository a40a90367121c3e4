// The driver API is not emulated. Programs that include this header but call only the runtime API
// compile.
#include "cuda_runtime.h"
