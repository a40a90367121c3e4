// hostcuda: cuRAND in kernels. As in CUDA it brings the host's part along.
#ifndef HOSTCUDA_CURAND_KERNEL_H
#define HOSTCUDA_CURAND_KERNEL_H

#include "curand.h"
#include "hostcuda/random.h"

#endif
