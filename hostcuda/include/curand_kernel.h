// hostcuda: cuRAND in kernels includes the host's part, as in CUDA.
#include "curand.h"
