// hostcuda: as in CUDA, the header for kernels includes the one for host code.
#include "curand.h"
