// hostcuda: the CUDA samples' helpers, without those for images.
#pragma once

#include "helper_string.h"
#include "helper_timer.h"
