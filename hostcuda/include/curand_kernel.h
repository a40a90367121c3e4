// hostcuda: cuRAND for kernels. As in CUDA, this header includes the header for host code.
#include "curand.h"
