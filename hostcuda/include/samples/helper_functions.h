// hostcuda: the CUDA samples' helpers, without those for images.
#ifndef HOSTCUDA_HELPER_FUNCTIONS_H
#define HOSTCUDA_HELPER_FUNCTIONS_H

#include "helper_string.h"
#include "helper_timer.h"

#endif
