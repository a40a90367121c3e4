// hostcuda: the header for host code that needs only the API. hostcuda makes it the same as
// cuda_runtime.h.
#include "cuda_runtime.h"
