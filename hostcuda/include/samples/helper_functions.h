// hostcuda: the CUDA samples' helper functions, except those for images.
#pragma once

#include "helper_string.h"
#include "helper_timer.h"
