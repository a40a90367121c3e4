// hostcuda: host code that needs only the API includes this name. It is the same header here.
#include "cuda_runtime.h"
