// hostcuda: cuRAND in kernels. As in CUDA it brings the host's part along.
#pragma once

#include "curand.h"
#include "hostcuda/random.h"
