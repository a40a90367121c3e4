// hostcuda: cuRAND for kernels. As in CUDA, this header includes the one for host code.
#include "curand.h"
