// hostcuda: host code that needs only the API includes this name; there is one header underneath.
#include "cuda_runtime.h"
