// hostcuda: cuRAND in kernels brings the host's part along, as in CUDA.
#include "curand.h"
