// hostcuda: the header's name for host code that needs only the API; both are the same header.
#include "cuda_runtime.h"
